"""The Paxos coordination queue: order of execution, permitted acknowledgements, and reads after earlier slots."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nodes.protocols.paxos.messages import LogRecord
from nodes.protocols.paxos.queue import ACCEPT, EMPTY, SLOTS_MAX, SUCCESS, CoordinationQueue
from nodes.wire.messages import Mark

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("accept"), st.integers(1, 3), st.integers(1, 12)),
        st.tuples(st.just("succeed"), st.integers(1, 3), st.integers(1, 12)),
        st.tuples(st.just("begin"), st.integers(1, 3), st.just(0)),
        st.tuples(st.just("read"), st.just(0), st.just(0)),
    ),
    max_size=60,
)


def record(slot: int, epoch: int = 1) -> LogRecord:
    return LogRecord(slot, slot, epoch, 0, Mark(0, 0, slot - 1, 0), 0, 0, [])


def test_slots_are_success_accept_or_empty() -> None:
    queue = CoordinationQueue()
    queue.begin(1)
    for slot in (1, 2, 4):
        queue.accept(1, record(slot))
    assert [each.sn for each in queue.succeed(1, 4)] == [1, 2]
    assert [queue.state_of(slot) for slot in (2, 3, 4, 5)] == [SUCCESS, EMPTY, ACCEPT, EMPTY]
    assert (queue.success, queue.reach, queue.current) == (2, 2, 4)
    queue.accept(1, record(3))
    assert queue.reach == 4


def test_what_was_accepted_under_a_lower_ballot_is_not_acknowledged_under_a_higher_one() -> None:
    queue = CoordinationQueue()
    queue.begin(1)
    queue.accept(1, record(1))
    queue.begin(2)
    assert queue.reach == 0
    assert list(queue.succeed(2, 1)) == []
    queue.accept(2, record(1))
    assert [each.sn for each in queue.succeed(2, 1)] == [1]


def test_a_read_waits_behind_every_slot_that_is_known_when_it_comes() -> None:
    queue, answered = CoordinationQueue(), []
    queue.begin(1)
    queue.accept(1, record(1))
    queue.accept(1, record(3))
    assert queue.read(lambda: answered.append("first"))
    list(queue.succeed(1, 3))
    queue.run_reads()
    assert answered == []
    queue.accept(1, record(2))
    list(queue.succeed(1, 3))
    queue.run_reads()
    assert answered == ["first"]


def test_room_is_bounded() -> None:
    queue = CoordinationQueue()
    assert queue.takes(SLOTS_MAX) and not queue.takes(SLOTS_MAX + 1) and not queue.takes(0)


@given(STEPS)
def test_execution_is_in_order_and_acknowledgements_are_without_gap(
    steps: list[tuple[str, int, int]],
) -> None:
    queue, executed, waiting = CoordinationQueue(), [], []
    accepted: dict[int, int] = {}
    for kind, ballot, slot in steps:
        if kind == "begin":
            queue.begin(ballot)
        elif kind == "accept" and queue.takes(slot) and ballot >= queue.ballot:
            queue.begin(ballot)
            queue.accept(ballot, record(slot, ballot))
            accepted[slot] = ballot
        elif kind == "succeed":
            executed += [each.sn for each in queue.succeed(ballot, slot)]
        elif kind == "read":
            seen = queue.latest
            queue.read(lambda seen=seen: waiting.append((seen, queue.success)))
        queue.run_reads()
        reach = queue.success
        while accepted.get(reach + 1) == queue.ballot:
            reach += 1
        assert queue.reach == reach
    assert executed == list(range(1, queue.success + 1))
    assert all(success >= seen or queue.ballot > 1 for seen, success in waiting)
