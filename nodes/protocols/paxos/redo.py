"""The records that the elected server proposes again after phase 1 (DCFS3, Recovery; safety rule 8). Pure.

A slot that some member knows to be decided keeps its record. In any other slot the record of the highest ballot wins, if it names the record
before it. A record is the result of a state, so one without its predecessor was never decided, nor can be. Remaining slots become no-ops.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from crc32c import crc32c

from nodes.protocols.paxos.log import decode_record, encode_record
from nodes.protocols.paxos.messages import AcceptedSlot, LogRecord, PaxosPromise
from nodes.protocols.paxos.queue import SLOTS_MAX
from nodes.wire.messages import Mark


class Received:
    """One member's answer to phase 1, which may come in several messages."""

    def __init__(self, success: int):
        """`success`: last slot that the elected server knows as decided. It asks for those after it."""
        self.success = success
        self.current = success + 1
        """Last slot with a record. No answer is whole before its first message."""
        self.base = 0
        """Last pruned slot; slots up to it are decided, and the member cannot report them."""
        self.slots: dict[int, AcceptedSlot] = {}
        self.upto = success
        """Last slot of the reported prefix."""

    @property
    def whole(self) -> bool:
        return self.upto >= self.current

    def begins_anew(self, promise: PaxosPromise) -> bool:
        """Whether the report has to begin again: the member was restarted behind an image and has the slots below it in its log again. A message
        that was sent before the image was read looks alike, and makes the member report once more."""
        return promise.base < self.base and not self.whole

    def add(self, promise: PaxosPromise) -> None:
        """Takes one message. The member may have read an image since the last one. What it had reported as undecided below that was not decided."""
        if promise.base < self.base or promise.from_slot > self.upto + 1:
            return  # It was sent before that image was read, or continues a report of another disk.
        self.slots = {s: each for s, each in self.slots.items() if not self.success < s <= promise.success}
        self.success = promise.success
        self.current = promise.current
        self.base = promise.base
        self.upto = max(self.upto, promise.to_slot)
        for reported in promise.slots:
            self.slots[reported.slot] = reported


def credible(promise: PaxosPromise) -> bool:
    """Whether a promise is possible: it lacks no decided slot, and the queue's bound holds for the others."""
    slots = [reported.slot for reported in promise.slots]
    decided = range(max(promise.from_slot, promise.base + 1), min(promise.to_slot, promise.success) + 1)
    return (
        promise.from_slot <= promise.to_slot + 1
        and promise.to_slot <= max(promise.current, promise.from_slot - 1)
        and promise.base <= promise.success <= promise.current <= promise.success + SLOTS_MAX
        and slots == sorted(set(slots))
        and all(promise.from_slot <= slot <= promise.to_slot for slot in slots)
        and len(decided) <= sum(slot <= promise.success for slot in slots)
    )


def lacking(success: int, answers: Iterable[Received]) -> int:
    """The first decided slot after `success` that no answering member still has; 0 when there is none. An image covers such a slot.

    Only a member that knows the slot as decided counts. Another one may have accepted a different record.
    """
    members = list(answers)
    for slot in range(success + 1, max((received.base for received in members), default=0) + 1):
        if not any(received.success >= slot and slot in received.slots for received in members):
            return slot
    return 0


class Redone(msgspec.Struct):
    """One slot of the recovery range."""

    record: LogRecord
    data: bytes
    state: str
    """success, accept, or empty; no member had a usable record of an empty slot, which becomes a no-op."""


def redo(ballot: int, mark: Mark, at_ns: int, answers: Iterable[Received]) -> list[Redone]:
    """The records from the decided `mark` to the largest current pointer. Raises ValueError for a gap among decided slots."""
    members = list(answers)
    current = max((received.current for received in members), default=0)
    redone: list[Redone] = []
    made = 0
    for slot in range(mark.sn + 1, current + 1):
        decided = [received for received in members if received.success >= slot]
        found = best(decided or members, slot)
        if decided and found is None:
            raise ValueError(f"slot {slot} is decided, and no server that answered has it")
        if found is None or (not decided and found.record.previous != mark):
            made += 1
            found = no_op(ballot, mark, made, at_ns)
        elif decided:
            found.state = "success"
        redone.append(found)
        mark = Mark(0, found.record.epoch, slot, crc32c(found.data))
    return redone


def best(members: Iterable[Received], slot: int) -> Redone | None:
    """The readable record of the highest ballot; None when no member has one."""
    found = [received.slots[slot] for received in members if slot in received.slots]
    for reported in sorted(found, key=lambda reported: reported.ballot, reverse=True):
        try:
            record = decode_record(reported.data)
        except (msgspec.DecodeError, msgspec.ValidationError):
            continue
        if record.sn == slot:
            return Redone(record, reported.data, "accept")
    return None


def no_op(ballot: int, mark: Mark, groupid: int, at_ns: int) -> Redone:
    record = LogRecord(mark.sn + 1, groupid, ballot, 0, mark, mark.sn, at_ns, [])
    return Redone(record, encode_record(record)[0], "empty")
