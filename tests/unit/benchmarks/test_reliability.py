"""Table 1's model against the paper's formula, and against the equations solved by elimination."""

from __future__ import annotations

from fractions import Fraction

import pytest

from benchmarks.experiments.reliability import EXPERIMENTS, formula_1a2s, mean_time_to_failure


def solved(servers: int, failures: Fraction, repairs: Fraction) -> Fraction:
    """The time from all up: T[i] = (1 + f T[i+1] + r T[i-1]) / (f + r), T[servers] = 0."""
    rows = [[Fraction(0)] * servers + [Fraction(1)] for _ in range(servers)]
    for down, row in enumerate(rows):
        failing = (servers - down) * failures
        repaired = repairs if down else Fraction(0)
        row[down] = failing + repaired
        if down + 1 < servers:
            row[down + 1] = -failing
        if down:
            row[down - 1] = -repaired
    for down in reversed(range(1, servers)):
        share = rows[down - 1][down] / rows[down][down]
        rows[down - 1] = [a - share * b for a, b in zip(rows[down - 1], rows[down], strict=True)]
    return rows[0][-1] / rows[0][0]


@pytest.mark.parametrize("servers", range(1, 7))
def test_the_recursion_solves_the_equations(servers: int) -> None:
    exact = solved(servers, Fraction(1, 1000), Fraction(9, 10))
    assert mean_time_to_failure(servers, 0.001, 0.9) == pytest.approx(float(exact), rel=1e-9)


def test_one_active_and_two_standbys_are_equation_8() -> None:
    for failures, repairs in ((0.001, 0.9), (0.1, 0.2), (0.5, 0.1)):
        assert mean_time_to_failure(3, failures, repairs) == pytest.approx(formula_1a2s(failures, repairs))
    assert mean_time_to_failure(3, 0.001, 0.9) * 0.001 == pytest.approx(135_602, abs=1)


def test_both_are_reported() -> None:
    outcome = EXPERIMENTS[0].run(False)
    assert set(outcome.figures) == set(outcome.paper) and outcome.figures["mttf_ratio_1"] == 451.5
