"""Messages among the servers of one group: phase 1, Accept and Success (DCFS3, Packed Multi-Paxos), leases, joining."""

from __future__ import annotations

import msgspec

from nodes.storage.identity import DiskId
from nodes.wire.messages import JournalGroup, Message


class LogRecord(JournalGroup, array_like=True, gc=False):
    """The value of one slot: one write with its result, a change of the view, or a no-op. `sn` is the slot, `epoch` the ballot that made it.

    It never changes again, whatever later ballot it is accepted under; `previous` names the slot before it (safety rule 1).
    """

    view: list[str] = []
    """Of a change of the view: who must have executed a write before it is answered, from here on."""


class PaxosPrepare(Message, array_like=True, tag=True, gc=False):
    """Phase 1: accept nothing of a lower ballot any more, and tell what you have from this slot on."""

    ballot: int
    from_slot: int


class Told(msgspec.Struct, array_like=True, gc=False):
    """What a member has accepted for one slot."""

    slot: int
    ballot: int
    """Under which it was accepted."""
    octets: bytes


class PaxosPromise(Message, array_like=True, tag=True, gc=False):
    """The sender has durably promised; the slots it has from `from_slot` on, up to `to_slot` (a megabyte at most)."""

    ballot: int
    success: int
    """Success pointer: every slot up to here is decided."""
    current: int
    """Current pointer: the last slot in which anything was accepted."""
    from_slot: int
    to_slot: int
    slots: list[Told]
    disk: DiskId = DiskId(0)
    base: int = 0
    """Every slot up to here is decided, and its record is here no more: an image reaches further."""


class Accept(Message, array_like=True, tag=True, gc=False):
    """Phase 2: records for the slots from `first` on; and how far the group has decided."""

    ballot: int
    success: int
    first: int
    records: list[bytes]


class Accepted(Message, array_like=True, tag=True, gc=False):
    """Every slot up to `accepted` is decided or accepted under this ballot, durably; every slot up to `executed` is in the namespace."""

    ballot: int
    accepted: int
    executed: int
    gap: bool = False
    """Something behind `accepted` has come, but not what is next."""
    disk: int = 0
    """The instance of the disk that has it."""


class Success(Message, array_like=True, tag=True, gc=False):
    """Every slot up to this one is decided; sent when no Accept is there to carry it."""

    ballot: int
    slot: int


class LogBegins(Message, array_like=True, tag=True, gc=False):
    """The primary has no record up to `base` any more: who lacks one reads an image of the others first."""

    ballot: int
    base: int


class Outbid(Message, array_like=True, tag=True, gc=False):
    """The sender has promised a higher ballot."""

    promised: int


class AskLease(Message, array_like=True, tag=True, gc=False):
    """A secondary would go on answering reads; its lease will run from `sent_ns` on its own clock."""

    ballot: int
    sent_ns: int
    executed: int
    disk: int = 0
    """The instance of its disk: what another one acknowledged may lack here, so that nothing is read from this one."""


class LeaseGranted(Message, array_like=True, tag=True, gc=False):
    ballot: int
    sent_ns: int
    length_ns: int
    """For so long the primary counts it; a secondary whose own configuration says more does not answer for longer."""


class PaxosJoin(Message, array_like=True, tag=True, gc=False):
    """A server outside the view offers itself to the primary; it has everything up to `success`."""

    ballot: int
    success: int
    disk: int = 0


def records_of(message: Message) -> int | None:
    """How many records a message brings from the primary to the others; None for one that has another purpose. DCFS3 counts these."""
    if isinstance(message, Accept):
        return len(message.records)
    return 0 if isinstance(message, Success) else None


MESSAGES: tuple[type[Message], ...] = (
    PaxosPrepare, PaxosPromise, Accept, Accepted, Success, LogBegins, Outbid, AskLease, LeaseGranted, PaxosJoin,
)  # fmt: skip
