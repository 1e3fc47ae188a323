"""Messages that every family shares: those between clients and servers, and the journal group.

Each family adds its own in `protocols/<family>/messages.py`; `mechanisms.MESSAGES` is the whole list, from which the codec is made.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from nodes.metadata.lookup import Start
from nodes.metadata.operations import Operation, Result
from nodes.metadata.records import Record

Topic = Literal["call", "journal", "takeover", "renewing", "crossing", "view", "data"]
"""Purpose of a message: the page has a colour for each."""


class Message(msgspec.Struct, array_like=True, tag=True, gc=False):
    """Base of all messages; the tag is the class name."""

    topic: ClassVar[Topic]
    is_reply: ClassVar[bool] = False


class Question(Message, array_like=True, tag=True, gc=False):
    """Base of the messages that expect a reply. `call` is set when the question is sent, and the reply carries the same number."""

    call: int


class Reply(Message, array_like=True, tag=True, gc=False):
    """Base of the replies to questions."""

    is_reply: ClassVar[bool] = True
    call: int


def about(
    topic: Topic, *messages: type[Message], replies: tuple[type[Message], ...] = ()
) -> tuple[type[Message], ...]:
    """Declares the topic of messages, and which of them reply beside the subclasses of Reply."""
    for message in (*messages, *replies):
        message.topic = topic
    for message in replies:
        message.is_reply = True
    return (*messages, *replies)


class CrossGroupMessage(Message, array_like=True, tag=True, gc=False):
    """Base of the messages between the actives of several groups; only the slot `cross_group` knows the details."""


class Mark(msgspec.Struct, array_like=True, frozen=True, order=True, gc=False):
    """Identifies one journal group, and by its chained CRC everything before it (safety rule 1). Ordered by (incarnation, epoch, sn)."""

    incarnation: int
    epoch: int
    sn: int
    crc: int


class JournalGroup(msgspec.Struct, array_like=True, gc=False):
    """A batch of records under one serial number, `<sn, groupid>` (CFS §3.3)."""

    sn: int
    groupid: int
    """Position among the groups of its epoch, from 1."""
    epoch: int
    incarnation: int
    previous: Mark
    commit_sn: int
    """The largest sn known to be committed when the group was closed."""
    at_ns: int
    """Wall clock of the active."""
    records: list[Record]


class Request(Message, array_like=True, tag=True, gc=False):
    session: str
    number: int
    """Number of the call within the session, from 1."""
    lowest_open: int
    """The application has received the answers to all calls below this number."""
    operation: Operation
    starts: list[Start] = []
    """Start of the walk along each of the call's paths; the root when empty."""
    moves: int = 0
    """Count of directory moves that the client knows, and under which the starts were resolved. Its upper half counts the recoveries."""
    seen_ns: int = 0
    """The latest `at_ns` among the answers to the client."""
    leg: int = 0
    """Number of earlier referrals of the call. Every copy of one leg is sent to one group only."""


class Answer(Message, array_like=True, tag=True, gc=False):
    session: str
    """Session of the call: a client that starts again under its name has another one, and may be sent an answer to its former life."""
    number: int
    epoch: int
    sn: int
    place: int
    result: Result | None
    error: str
    """POSIX name with a message after a colon, or empty."""
    at_ns: int = 0
    """Time of the answer on the clock that all groups synchronise with every message."""
    forgotten: bool = False
    """Refused because this call cannot be remembered: its session is not open, or was opened again. An earlier copy may have been carried out."""


class Refused(Message, array_like=True, tag=True, gc=False):
    """This server did not execute the call."""

    number: int
    epoch: int
    reason: str
    active: str
    """The active as far as this server knows; else empty."""


class Referred(Message, array_like=True, tag=True, gc=False):
    """This group did not execute the call: the path continues at `start`, whose inode names its home."""

    session: str
    number: int
    epoch: int
    path: int
    """Index of the path among those of the operation."""
    start: Start | None
    """Start of the next leg; None when the client's resolution is no longer valid."""
    moves: int
    at_ns: int
    leg: int = 0
    """Leg of the request. This group carries out no further copy of a write of this leg, or of an earlier one."""
    ended: int = 0
    """Number of the inode where the walk should have begun, if it was here and never will be again; else 0."""


class CheckOperation(Message, array_like=True, tag=True, gc=False):
    """The smart client's Check (CFS §4.4, Fig. 6)."""

    session: str
    number: int


class Checked(Message, array_like=True, tag=True, gc=False):
    number: int
    epoch: int
    state: str
    """One of recorded (the answer follows by itself), pending, or absent."""
    at_ns: int = 0
    """Stamp that a record made now would have."""


class AskView(Message, array_like=True, tag=True, gc=False):
    """Asks for the copy of the global view in the pool. Every running metadata server has one, and so have the data nodes (a hint only). A metadata
    server also sends it whenever it changes from then on."""

    group: int = 0
    """Group that a data node is asked about; a metadata server knows its own."""


class ViewCopy(Message, array_like=True, tag=True, gc=False):
    epoch: int
    active: str
    addresses: dict[str, str]
    group: int = 0
    """Group of the copy; 0 for that of the metadata server that sends it."""


CLIENT_MESSAGES = (
    *about("call", Request, CheckOperation, replies=(Answer, Refused, Referred, Checked)),
    *about("view", AskView, replies=(ViewCopy,)),
)
