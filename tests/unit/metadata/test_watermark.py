"""The number below which every operation has ended, against a scan of all open ones; also through undo and images."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nodes.metadata.cross_group_memory import ENDED_MOST, Crossing
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Done
from nodes.metadata.records import BeginRecord, DecideRecord, EndRecord
from nodes.units import OpId


def by_hand(crossing: Crossing) -> int:
    return min([*crossing.begun, *crossing.decided, crossing.next_seq])


def begin(crossing: Crossing, undo: Any = None) -> int:
    seq = crossing.next_seq
    record = BeginRecord(OpId("", 0), 0, 1, Done(), seq, [], {2: []}, True)
    crossing.appliers[BeginRecord](record, undo)
    return seq


def decide(crossing: Crossing, seq: int, undo: Any = None) -> None:
    record = DecideRecord(OpId("", 0), 0, 2, Done(), seq, True, [])
    crossing.appliers[DecideRecord](record, undo)


@given(
    st.lists(st.tuples(st.sampled_from(["begin", "decide", "end", "undo"]), st.integers(0, 30)), max_size=60)
)
def test_it_is_the_lowest_open_number(steps: list[tuple[str, int]]) -> None:
    crossing = Namespace(1).crossing
    past: list[list[Any]] = []
    for step, which in steps:
        undo: list[Any] = []
        if step == "begin":
            begin(crossing, undo)
        elif step == "decide" and crossing.begun:
            seq = sorted(crossing.begun)[which % len(crossing.begun)]
            decide(crossing, seq, undo)
        elif step == "end" and crossing.decided:
            seq = sorted(crossing.decided)[which % len(crossing.decided)]
            crossing.appliers[EndRecord](EndRecord(2, seq), undo)
        elif step == "undo" and past:
            for deed, *of in reversed(past.pop()):
                deed(*of)
            continue
        past.append(undo)
        assert crossing.finished_below == by_hand(crossing)
        loaded = Namespace(1).crossing
        loaded.restore(crossing.rows())
        assert loaded.finished_below == by_hand(crossing)


def test_one_operation_that_stays_open_holds_on_to_few_that_have_ended() -> None:
    crossing = Namespace(1).crossing
    first = begin(crossing)
    for _ in range(20 * ENDED_MOST):
        seq = begin(crossing)
        decide(crossing, seq)
        crossing.appliers[EndRecord](EndRecord(2, seq), None)
    assert crossing.finished_below == first
    assert len(crossing._coordinated) <= ENDED_MOST + 3
