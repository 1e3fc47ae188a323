"""The slots that an elected primary continues with: Paxos acceptors in small, with every decision remembered."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.protocols.paxos.log import NOTHING, decode_record, encode_record
from nodes.protocols.paxos.messages import AcceptedSlot, LogRecord, PaxosPromise
from nodes.protocols.paxos.redo import Received, credible, lacking, redo
from nodes.wire.messages import Mark

SLOTS = 4


def made(mark: Mark, ballot: int) -> tuple[LogRecord, bytes, Mark]:
    record = LogRecord(mark.sn + 1, 1, ballot, 0, mark, 0, ballot * 100 + mark.sn, [])
    return record, *encode_record(record)


def received(success: int, *reported: tuple[int, int, bytes]) -> Received:
    current = max([success, *(slot for slot, _, _ in reported)])
    answer = Received(0)
    answer.add(PaxosPromise(9, success, current, 1, current, [AcceptedSlot(*each) for each in reported]))
    return answer


def test_success_is_sent_on_accept_is_redone_and_empty_becomes_a_no_op() -> None:
    one, one_bytes, mark = made(NOTHING, 1)
    two, two_bytes, mark = made(mark, 1)
    _, three_bytes, mark = made(mark, 1)
    _, four_bytes, _ = made(mark, 1)
    redone = redo(
        2, NOTHING, 5, [received(1, (1, 1, one_bytes), (2, 1, two_bytes)), received(0, (4, 1, four_bytes))]
    )
    assert [each.state for each in redone] == ["success", "accept", "empty", "empty"]
    assert [each.record for each in redone[:2]] == [one, two]
    assert [(each.record.sn, each.record.epoch, each.record.records) for each in redone[2:]] == [
        (3, 2, []),
        (4, 2, []),
    ]
    assert redone[3].record.previous.crc == encode_record(redone[2].record)[1].crc
    assert three_bytes


def test_the_highest_ballot_wins() -> None:
    _, old, _ = made(NOTHING, 1)
    new, new_bytes, _ = made(NOTHING, 2)
    [only] = redo(3, NOTHING, 5, [received(0, (1, 1, old)), received(0, (1, 2, new_bytes))])
    assert only.record == new


def test_what_cannot_be_read_counts_as_empty_and_a_decided_slot_that_nobody_has_is_refused() -> None:
    [only] = redo(3, NOTHING, 5, [received(0, (1, 1, b"nonsense"))])
    assert only.state == "empty"
    with pytest.raises(ValueError, match="slot 1 is decided"):
        redo(3, NOTHING, 5, [received(1)])


def promise(success: int, current: int, from_slot: int, to_slot: int, *slots: int) -> PaxosPromise:
    return PaxosPromise(
        9, success, current, from_slot, to_slot, [AcceptedSlot(slot, 1, b"") for slot in slots]
    )


def test_what_no_member_can_report_is_not_believed() -> None:
    assert credible(promise(0, 0, 1, 0))
    assert credible(promise(2, 4, 2, 4, 2, 4))
    assert credible(promise(7, 9, 5, 6, 5, 6))
    assert credible(promise(3, 3, 9, 8))
    for wrong in (
        promise(0, 1 << 60, 1, 1 << 60),
        promise(1 << 60, 1 << 60, 1, 1 << 60),
        promise(2, 4, 1, 4, 1, 4),
        promise(0, 2, 1, 2, 2, 1),
        promise(0, 2, 1, 3, 3),
        promise(4, 2, 1, 2, 1, 2),
    ):
        assert not credible(wrong), wrong


class Acceptor:
    """One member of a group, as in rule 8."""

    def __init__(self) -> None:
        self.promised = 0
        self.slots: dict[int, tuple[int, bytes]] = {}
        self.success = 0

    def accept(self, ballot: int, slot: int, data: bytes) -> None:
        if ballot >= self.promised:
            self.promised = ballot
            self.slots[slot] = (ballot, data)

    def reach(self, ballot: int) -> int:
        slot = self.success
        while self.slots.get(slot + 1, (0, b""))[0] == ballot:
            slot += 1
        return slot if self.promised == ballot else 0

    def promise(self, ballot: int) -> Received:
        self.promised = ballot
        return received(self.success, *((slot, *reported) for slot, reported in self.slots.items()))


@given(st.integers(0, 1 << 32), st.sampled_from([3, 5]))
def test_no_decided_slot_ever_changes(seed: int, size: int) -> None:
    """Random majorities promise, random acceptors receive random parts of the proposals, over several ballots."""
    rng = random.Random(seed)
    group = [Acceptor() for _ in range(size)]
    decided: dict[int, bytes] = {}
    for ballot in range(1, 6):
        promises = [each.promise(ballot) for each in rng.sample(group, size // 2 + 1)]
        values = [each.data for each in redo(ballot, NOTHING, ballot, promises)]
        mark = NOTHING
        for data in values:
            mark = encode_record(decode_record(data))[1]
        while len(values) < SLOTS:
            _, data, mark = made(mark, ballot)
            values.append(data)
        for slot, data in enumerate(values, 1):
            for acceptor in group:
                if rng.random() < 0.6:
                    acceptor.accept(ballot, slot, data)
        reached = sorted((each.reach(ballot) for each in group), reverse=True)[size // 2]
        for slot in range(1, reached + 1):
            assert decided.setdefault(slot, values[slot - 1]) == values[slot - 1]
        lucky = rng.choice(group)
        lucky.success = max(lucky.success, min(reached, lucky.reach(ballot)))


@pytest.mark.parametrize("overtakes", [False, True])
def test_what_was_reported_before_an_image_was_read_is_not_decided(overtakes: bool) -> None:
    """The first part of the report names slots 2 and 3 of five, all undecided. The member then reads an image of slots 1 to 4."""
    mark, slots = NOTHING, []
    for slot in range(1, 4):
        _, data, mark = made(mark, 1)
        slots.append(AcceptedSlot(slot, 1, data))
    before = PaxosPromise(9, 1, 5, 2, 3, slots[1:])
    after = PaxosPromise(9, 4, 5, 2, 5, [], base=4)
    answer = Received(1)
    for promise in (after, before) if overtakes else (before, after):
        answer.add(promise)
    assert answer.whole and lacking(1, [answer]) == 2


def test_a_report_that_begins_later_than_asked_for_does_not_count() -> None:
    """It continues what another disk of the member had begun to report."""
    one, one_bytes, mark = made(NOTHING, 1)
    _, two_bytes, _ = made(mark, 1)
    first, second = (AcceptedSlot(slot, 1, data) for slot, data in ((1, one_bytes), (2, two_bytes)))
    answer = Received(0)
    answer.add(PaxosPromise(9, 0, 2, 2, 2, [second]))
    assert not answer.whole
    for each in (first, second):
        answer.add(PaxosPromise(9, 0, 2, each.slot, each.slot, [each]))
    assert answer.whole and redo(9, NOTHING, 5, [answer])[0].record == one
