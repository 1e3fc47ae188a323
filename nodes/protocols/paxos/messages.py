"""Messages among the servers of one group: phase 1, Accept and Success (DCFS3, Packed Multi-Paxos), leases, joining."""

from __future__ import annotations

import msgspec

from nodes.units import DiskId
from nodes.wire.messages import JournalGroup, Message, about


class LogRecord(JournalGroup, array_like=True, gc=False):
    """The value of one slot: one write with its result, a change of the view, or a no-op. `sn` is the slot, `epoch` the ballot that made it.

    The record never changes, whatever later ballot it is accepted under. `previous` names the slot before it (safety rule 1).
    """

    view: list[str] = []
    """New view, in a change of the view. All its members must have executed each later write before it is answered."""


class PaxosPrepare(Message, array_like=True, tag=True, gc=False):
    """Phase 1: the receiver is to refuse lower ballots and to report its accepted slots from this one on."""

    ballot: int
    from_slot: int


class AcceptedSlot(msgspec.Struct, array_like=True, gc=False):
    """The record that a member has accepted for one slot."""

    slot: int
    ballot: int
    """Ballot under which the record was accepted."""
    data: bytes


class PaxosPromise(Message, array_like=True, tag=True, gc=False):
    """A durable promise, with the sender's accepted slots from `from_slot` to `to_slot` (a megabyte at most)."""

    ballot: int
    success: int
    """Success pointer: last slot of the decided prefix."""
    current: int
    """Current pointer: last slot with an accepted record."""
    from_slot: int
    to_slot: int
    slots: list[AcceptedSlot]
    disk: DiskId = DiskId(0)
    base: int = 0
    """Last pruned slot. Slots up to it are decided, and an image covers them."""


class Accept(Message, array_like=True, tag=True, gc=False):
    """Phase 2: records for the slots from `first` on, and the last decided slot."""

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
    """Whether a later slot has arrived while the slot after `accepted` is missing."""
    disk: int = 0
    """Instance of the sender's disk."""


class Success(Message, array_like=True, tag=True, gc=False):
    """Every slot up to this one is decided. Sent when no Accept can carry it."""

    ballot: int
    slot: int


class LogBegins(Message, array_like=True, tag=True, gc=False):
    """The primary has pruned its records up to `base`. A member that lacks one of them reads an image first."""

    ballot: int
    base: int


class Outbid(Message, array_like=True, tag=True, gc=False):
    """The sender has promised a higher ballot."""

    promised: int


class AskLease(Message, array_like=True, tag=True, gc=False):
    """A secondary asks for a read lease. The lease runs from `sent_ns` on its own clock."""

    ballot: int
    sent_ns: int
    executed: int
    disk: int = 0
    """Instance of the sender's disk. A disk other than the one that acknowledged may lack slots, so it gets no lease."""


class LeaseGranted(Message, array_like=True, tag=True, gc=False):
    ballot: int
    sent_ns: int
    length_ns: int
    """Length of the lease at the primary. A secondary configured with a longer one uses this."""


class PaxosJoin(Message, array_like=True, tag=True, gc=False):
    """A server outside the view offers itself to the primary. It has every slot up to `success`."""

    ballot: int
    success: int
    disk: int = 0


def records_of(message: Message) -> int | None:
    """Number of records in a message from the primary to the others, as DCFS3 counts; None for a message of another purpose."""
    if isinstance(message, Accept):
        return len(message.records)
    return 0 if isinstance(message, Success) else None


MESSAGES = (
    *about("journal", Accept, Success, replies=(Accepted,)),
    *about("takeover", PaxosPrepare, replies=(PaxosPromise, Outbid)),
    *about("renewing", LogBegins, PaxosJoin),
    *about("view", AskLease, replies=(LeaseGranted,)),
)
