"""What the members of a symmetric group tell each other."""

from __future__ import annotations

import msgspec

from nodes.metadata.records import Record
from nodes.wire.calls import Question, Reply
from nodes.wire.messages import Mark, Message


class Numbered(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """One broadcast of one member, named by (sender, counter) within its view (SAA §4)."""

    sender: int
    """Place of the member in its view, from 0; the paper's id."""
    counter: int
    """Counts the sender's broadcasts in this view, from 1."""
    stamp: int
    """Lamport's clock of the sender."""
    received: list[int]
    """How many broadcasts of each member it follows."""
    at_ns: int
    """Wall clock of the sender."""
    records: list[Record]
    """Empty: nothing to be delivered, an acknowledgement or a heartbeat."""


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
    """Keeps silence from being taken for death, and the receiver's lease from ending."""

    view: int
    sent_ns: int
    """The sender's clock."""
    echo_ns: int
    """The newest `sent_ns` of the receiver that the sender has seen; 0 when it grants nothing."""
    asks: bool
    """The sender has no lease from the receiver: it wants an answer now."""
    received: list[int]
    held: Mark
    joining: list[str]
    """Servers outside the view that the sender hears."""


class Leaving(Message, array_like=True, tag=True, gc=False):
    """The sender is being stopped: it answers nothing any more, and the others need not wait until it is silent."""

    view: int


class JoinView(Message, array_like=True, tag=True, gc=False):
    """The sender is no member of `view`, the newest that it knows of; or it was, in an earlier life."""

    view: int
    tails: list[Mark]
    hears: list[str]
    """Servers that have answered it lately."""
    rules: str
    """The part of its configuration that every member of a view must have alike."""
    disk: str
    """The identity of the sender's disk."""
    doubtful: bool
    """The end of the sender's journal may lack groups that it had (safety rule 23)."""


class Welcome(Message, array_like=True, tag=True, gc=False):
    """Answers JoinView."""

    view: int
    member: bool
    """The sender is a member of that view; else it would like to join it too."""


class Flush(Question, array_like=True, tag=True, gc=False):
    """The view is about to change: nothing is broadcast or delivered in it any more (SAA §5.3)."""

    attempt: int
    view: int
    size: int
    """Members of that view."""


class Flushed(Reply, array_like=True, tag=True, gc=False):
    promised: int
    """Larger than the attempt that asked: refused."""
    tails: list[Mark]
    live: bool
    """The sender has lived in the view until now; else it has only its disk."""
    frontier: tuple[int, int]
    """(stamp, sender) of the last message it has delivered in the view."""
    undelivered: list[Numbered]
    free_ns: list[int]
    """For each member of the view, how long its lease may still hold by what the sender granted it."""
    disk: str
    doubtful: bool
    """As in `JoinView`."""


class Fetch(Question, array_like=True, tag=True, gc=False):
    attempt: int
    from_sn: int


class Fetched(Reply, array_like=True, tag=True, gc=False):
    groups: list[bytes]


class Settle(Question, array_like=True, tag=True, gc=False):
    """Groups that belong behind `previous`; whatever else is there is cut."""

    attempt: int
    previous: Mark
    groups: list[bytes]
    goal: Mark
    """The sender's last group; at it the receiver has all."""
    final: bool
    """The old view ends with `goal`; else the receiver is only brought closer to it, and `attempt` is that view's number."""


class Settled(Reply, array_like=True, tag=True, gc=False):
    promised: int
    mark: Mark
    """The end of the sender's journal, durable."""
    matched: bool
    """Whether `previous` is in it."""


class Installed(Message, array_like=True, tag=True, gc=False):
    """There is a view of this number; the coordination service says which."""

    view: int


MESSAGES: tuple[type[Message], ...] = (
    Broadcast, Held, Missing, Alive, Leaving, JoinView, Welcome, Flush, Flushed, Fetch, Fetched, Settle, Settled, Installed
)  # fmt: skip
