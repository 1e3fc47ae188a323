"""The control plane may give a server more time for an answer, but not without end."""

from __future__ import annotations

import pytest

from nodes.supervisor.calls import ANSWER_MAX_S, ANSWER_S, answer_time_s


@pytest.mark.parametrize(
    ("args", "seconds"), [({}, ANSWER_S), ({"within_s": 20}, 20), ({"within_s": 1e9}, ANSWER_MAX_S)]
)
def test_the_time_for_an_answer_is_bounded(args: dict[str, float], seconds: float) -> None:
    assert answer_time_s(args) == seconds
