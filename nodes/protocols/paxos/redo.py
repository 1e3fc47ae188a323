"""What the elected goes on with after phase 1 (DCFS3, Recovery; safety rule 8). Pure.

A slot that somebody knows to be decided keeps its record. Of any other the record of the highest ballot wins, if it names the record before it:
records are results of a state, so that one whose predecessor is gone was never decided, nor can be. What is left is Empty and becomes a no-op.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from crc32c import crc32c

from nodes.protocols.paxos.log import decode_record, encode_record
from nodes.protocols.paxos.messages import LogRecord, PaxosPromise, Told
from nodes.protocols.paxos.queue import SLOTS_MAX
from nodes.wire.messages import Mark


class Heard:
    """One member's answer to phase 1, which may come in several messages."""

    def __init__(self, success: int, current: int):
        self.success = success
        self.current = current
        self.base = 0
        """Slots up to here are decided and cannot be told any more."""
        self.slots: dict[int, Told] = {}
        self.upto = 0
        """All slots up to here have been told."""

    @property
    def whole(self) -> bool:
        return self.upto >= self.current

    def add(self, promise: PaxosPromise) -> None:
        self.success = promise.success
        self.current = promise.current
        self.base = promise.base
        self.upto = max(self.upto, promise.to_slot)
        for told in promise.slots:
            self.slots[told.slot] = told


def credible(promise: PaxosPromise) -> bool:
    """Whether a member could have told this: nothing is lacking in what is decided, and little lies behind it."""
    slots = [told.slot for told in promise.slots]
    decided = range(max(promise.from_slot, promise.base + 1), min(promise.to_slot, promise.success) + 1)
    return (
        promise.from_slot <= promise.to_slot + 1
        and promise.to_slot <= max(promise.current, promise.from_slot - 1)
        and promise.base <= promise.success <= promise.current <= promise.success + SLOTS_MAX
        and slots == sorted(set(slots))
        and all(promise.from_slot <= slot <= promise.to_slot for slot in slots)
        and len(decided) <= sum(slot <= promise.success for slot in slots)
    )


def lacking(success: int, answers: Iterable[Heard]) -> int:
    """The first slot behind `success` that is decided and that nobody who answered has any more; 0 when there is none.

    An image reaches further. Nobody but those who know that a slot is decided can tell what it holds: another may have accepted something else.
    """
    members = list(answers)
    for slot in range(success + 1, max((heard.base for heard in members), default=0) + 1):
        if not any(heard.success >= slot and slot in heard.slots for heard in members):
            return slot
    return 0


class Redone(msgspec.Struct):
    """One slot of the recovery range."""

    record: LogRecord
    octets: bytes
    state: str
    """success, accept, or empty: nobody had it, and it becomes a no-op."""


def redo(ballot: int, mark: Mark, at_ns: int, answers: Iterable[Heard]) -> list[Redone]:
    """The records of the slots behind `mark`, which is decided, up to the largest current pointer. Raises ValueError for a gap in what is decided."""
    members = list(answers)
    current = max((heard.current for heard in members), default=0)
    redone: list[Redone] = []
    made = 0
    for slot in range(mark.sn + 1, current + 1):
        decided = [heard for heard in members if heard.success >= slot]
        found = best(decided or members, slot)
        if decided and found is None:
            raise ValueError(f"slot {slot} is decided, and nobody who answered has it")
        if found is None or (not decided and found.record.previous != mark):
            made += 1
            found = no_op(ballot, mark, made, at_ns)
        elif decided:
            found.state = "success"
        redone.append(found)
        mark = Mark(0, found.record.epoch, slot, crc32c(found.octets))
    return redone


def best(members: Iterable[Heard], slot: int) -> Redone | None:
    """The record of the highest ballot; None where nobody has one that can be read."""
    found = [heard.slots[slot] for heard in members if slot in heard.slots]
    for told in sorted(found, key=lambda told: told.ballot, reverse=True):
        try:
            record = decode_record(told.octets)
        except (msgspec.DecodeError, msgspec.ValidationError):
            continue
        if record.sn == slot:
            return Redone(record, told.octets, "accept")
    return None


def no_op(ballot: int, mark: Mark, groupid: int, at_ns: int) -> Redone:
    record = LogRecord(mark.sn + 1, groupid, ballot, 0, mark, mark.sn, at_ns, [])
    return Redone(record, encode_record(record)[0], "empty")
