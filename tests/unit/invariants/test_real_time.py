"""The staircase against the simple query that it answers."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.invariants import real_time
from nodes.invariants.real_time import RealTime
from nodes.trace.events import Stamped, Stopped

CALL = Stamped("client1", 1, 1, 0, 0, Stopped(""))
RETURNED = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=30)


@settings(max_examples=400, deadline=None)
@given(RETURNED, st.integers(0, 21))
def test_it_gives_the_largest_position_that_had_been_answered(
    returned: list[tuple[int, int]], now: int
) -> None:
    staircase = RealTime()
    for returned_ns, position in returned:
        staircase.returned(returned_ns, position, CALL)
    assert staircase.answered_by(now) == max((p for at, p in returned if at <= now), default=-1)


def test_it_stays_small_and_true() -> None:
    staircase = RealTime()
    for step in range(10 * real_time.KEPT):
        staircase.returned(step, step, CALL)
    assert len(staircase._times) <= 2 * real_time.KEPT + 2
    newest = 10 * real_time.KEPT
    assert staircase.answered_by(newest) == newest - 1
    assert 0 <= staircase.answered_by(newest // 2) < newest // 2
