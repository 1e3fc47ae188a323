"""Random faults leave more than half of a group alone, and can be undone."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.faults.chaos import DRAWN, drawn_step
from nodes.faults.check import FaultUnsupported
from nodes.faults.table import BY_NAME
from nodes.states import ProcessState


def test_only_faults_that_can_be_undone_are_drawn() -> None:
    assert {"crash", "pause", "cut", "delay", "slow_disk"} <= {*DRAWN}
    assert not {"new_disk", "corrupt", "gone", "force", "remove_server"} & {*DRAWN}


def afflicted(count: int, seed: int, steps: int) -> Iterator[int]:
    """How many servers have a fault after each of the steps."""
    rng = random.Random(seed)
    states: dict[str, ProcessState] = {f"mds{number}": "running" for number in range(1, count + 1)}
    standing: list[tuple[str, list[str]]] = []
    for _ in range(steps):
        step = drawn_step(states, standing, rng)
        row = BY_NAME[step.verb]
        if row.mends or row.is_undone_by(step.options):
            assert any(step.server in targets for _, targets in standing)
            standing = [each for each in standing if step.server not in each[1]]
            states[step.server] = "running"
        else:
            standing.append((step.verb, [step.server]))
            states[step.server] = row.leaves or "running"
        yield len({name for _, targets in standing for name in targets})


@given(count=st.integers(1, 7), seed=st.integers(0, 1 << 32))
def test_less_than_half_have_a_fault_at_a_time(count: int, seed: int) -> None:
    assert max(afflicted(count, seed, 40)) <= max(1, (count - 1) // 2)


@pytest.mark.parametrize("count", range(1, 8))
def test_as_many_as_may_have_a_fault_have_one_at_times(count: int) -> None:
    assert max(afflicted(count, 1, 400)) == max(1, (count - 1) // 2)


def test_a_server_that_ended_by_itself_is_restarted() -> None:
    step = drawn_step({"mds1": "stopped"}, [], random.Random(1))
    assert step == ("restart", "mds1", {})


def test_a_fault_that_cannot_be_undone_is_left() -> None:
    with pytest.raises(FaultUnsupported, match="no server is left"):
        drawn_step({"mds1": "running"}, [("respawn", ["mds1"])], random.Random(1))
