"""Messages between the servers of a symmetric group."""

from __future__ import annotations

import msgspec

from nodes.metadata.records import Record
from nodes.units import DiskId
from nodes.wire.messages import Mark, Message, Question, Reply, about


class Numbered(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """One broadcast of one member, named by (sender, counter) within its view (SAA §4)."""

    sender: int
    """Place of the member in its view, from 0; the paper's id."""
    counter: int
    """Counts the sender's broadcasts in this view, from 1."""
    stamp: int
    """Lamport's clock of the sender."""
    received: list[int]
    """Number of broadcasts of each member that this one follows."""
    at_ns: int
    """Wall clock of the sender."""
    records: list[Record]
    """Records to deliver; empty in an acknowledgement or a heartbeat."""


class Broadcast(Message, array_like=True, tag=True, gc=False):
    view: int
    message: Numbered
    held: Mark


class Held(Message, array_like=True, tag=True, gc=False):
    """Everything up to this group is in the sender's journal and synced (safety rules 6 and 24)."""

    view: int
    held: Mark


class Missing(Message, array_like=True, tag=True, gc=False):
    """The receiver's broadcasts from this number on are to be sent again."""

    view: int
    counter: int


class Alive(Message, array_like=True, tag=True, gc=False):
    """Shows that the sender is alive and extends the receiver's lease."""

    view: int
    sent_ns: int
    """The sender's clock."""
    echo_ns: int
    """The newest `sent_ns` of the receiver that the sender has seen; 0 when it grants nothing."""
    asks: bool
    """Whether the sender has no lease from the receiver and wants an answer at once."""
    received: list[int]
    held: Mark
    joining: list[str]
    """Servers outside the view whose requests to join the sender receives."""
    log_is_full: bool
    """Whether writes wait for an image. The first member decides it for all."""


class Leaving(Message, array_like=True, tag=True, gc=False):
    """The sender stops. It answers no more calls, and the others need not wait until it is silent."""

    view: int


class JoinView(Message, array_like=True, tag=True, gc=False):
    """The sender asks to join. It is outside `view`, the newest that it knows, or was a member before a restart."""

    view: int
    tails: list[Mark]
    hears: list[str]
    """Servers that have answered the sender recently; empty while it does not ask to be invited."""
    rules: str
    """Part of the configuration that must be the same at all members of a view."""
    disk: DiskId
    """The identity of the sender's disk. It has earlier instances while the end of the journal may lack groups that it had (safety rule 23)."""


class Welcome(Message, array_like=True, tag=True, gc=False):
    """Answers JoinView."""

    view: int
    member: bool
    """Whether the sender is a member of that view and can change it; if not, it wants to join too, or has lost the coordination service."""
    leads_on: bool
    """Whether the sender's journal leads on from some group of the receiver's. If not, the receiver has to begin from an image."""
    base: int
    """The last group that the sender has pruned; 0 when its journal is whole, which needs no image."""


class Flush(Question, array_like=True, tag=True, gc=False):
    """The view is about to change: the receiver is to stop broadcasts and deliveries in it (SAA §5.3)."""

    attempt: int
    view: int
    size: int
    """Number of members of that view."""


class Flushed(Reply, array_like=True, tag=True, gc=False):
    promised: int
    """Promised attempt; larger than the attempt in Flush when the sender refuses."""
    tails: list[Mark]
    live: bool
    """Whether the sender has been in the view until now; if not, it knows only its journal."""
    frontier: tuple[int, int]
    """(stamp, sender) of the last message that the sender has delivered in the view."""
    undelivered: list[Numbered]
    free_ns: list[int]
    """Remaining time of the sender's grant to each member of the view."""
    disk: DiskId


class Fetch(Question, array_like=True, tag=True, gc=False):
    attempt: int
    from_sn: int


class Fetched(Reply, array_like=True, tag=True, gc=False):
    groups: list[bytes]


class Settle(Question, array_like=True, tag=True, gc=False):
    """Groups that follow `previous`. The receiver cuts other groups there."""

    attempt: int
    previous: Mark
    groups: list[bytes]
    goal: Mark
    """The sender's last group, which the receiver's journal has to reach."""
    final: bool
    """Whether the old view ends with `goal`. If not, the receiver only catches up, and `attempt` is the number of the current view."""


class Settled(Reply, array_like=True, tag=True, gc=False):
    promised: int
    mark: Mark
    """Durable end of the sender's journal."""
    matched: bool
    """Whether `previous` is in the sender's journal and the groups after it are durable."""
    disk: int = 0
    """Instance of the sender's disk."""


class Installed(Message, array_like=True, tag=True, gc=False):
    """A view of this number exists; the coordination service holds it."""

    view: int


MESSAGES = (
    *about("journal", Broadcast, Missing, replies=(Held,)),
    *about("takeover", Flush, Flushed, Fetch, Fetched, Settle, Settled),
    *about("view", Alive, Leaving, JoinView, Installed, replies=(Welcome,)),
)
