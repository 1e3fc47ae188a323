"""Messages every family shares: those between clients and servers, and the journal group.

Each family adds its own in `protocols/<family>/messages.py`; `mechanisms.MESSAGES` is the whole list, from which the codec is made.
"""

from __future__ import annotations

import msgspec

from nodes.metadata.lookup import Start
from nodes.metadata.operations import Operation, Result
from nodes.metadata.records import Record


class Message(msgspec.Struct, array_like=True, tag=True, gc=False):
    """Base of all messages; the tag is the class name."""


class CrossGroupMessage(Message, array_like=True, tag=True, gc=False):
    """Base of what the actives of several groups tell each other; only the slot `cross_group` knows the terms."""


class Mark(msgspec.Struct, array_like=True, frozen=True, order=True, gc=False):
    """Names one journal group, and by its chained CRC everything before it (safety rule 1). Ordered by (incarnation, epoch, sn)."""

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
    """Counts the session's calls, from 1."""
    lowest_open: int
    """Every call below this has been answered to the application."""
    operation: Operation
    starts: list[Start] = []
    """Where the walk along each of its paths begins; the root when there is none."""
    moves: int = 0
    """Under how many moves of directories they were resolved."""
    seen_ns: int = 0
    """The latest `at_ns` that the client was answered."""
    leg: int = 0
    """How often the call has been referred before: every copy of one leg is sent to one group only."""


class Answer(Message, array_like=True, tag=True, gc=False):
    number: int
    epoch: int
    sn: int
    place: int
    result: Result | None
    error: str
    """POSIX name with a message after a colon, or empty."""
    at_ns: int = 0
    """When, on the clock that all groups keep in step by telling it with every message."""
    forgotten: bool = False
    """Refused because nothing of this call can be remembered: its session is not open, or was opened anew. An earlier copy may have been
    carried out."""


class Refused(Message, array_like=True, tag=True, gc=False):
    """Not executed by this server."""

    number: int
    epoch: int
    reason: str
    active: str
    """Who may be asked instead, as far as this server knows; else empty."""


class Referred(Message, array_like=True, tag=True, gc=False):
    """Not executed by this group: the path goes on at `start`, whose inode names its home."""

    number: int
    epoch: int
    path: int
    """Which of the operation's paths."""
    start: Start | None
    """None: what the client resolved before is no longer true."""
    moves: int
    at_ns: int
    leg: int = 0
    """Of the request. No copy of a write of this leg, or of an earlier one, is carried out by this group any more."""


class CheckOperation(Message, array_like=True, tag=True, gc=False):
    """The smart client's Check (CFS §4.4, Fig. 6)."""

    session: str
    number: int


class Checked(Message, array_like=True, tag=True, gc=False):
    number: int
    epoch: int
    state: str
    """recorded (the answer follows by itself), pending, or absent."""
    at_ns: int = 0
    """The stamp of a record that would be made now."""


class AskView(Message, array_like=True, tag=True, gc=False):
    """Asks for the copy of the global view in the pool: every metadata server that runs has one, and so have the data nodes (a hint only)."""

    group: int = 0
    """Of which a data node is asked; a metadata server knows its own."""


class ViewCopy(Message, array_like=True, tag=True, gc=False):
    epoch: int
    active: str
    addresses: dict[str, str]
    group: int = 0
    """0: that of the metadata server that sends it."""


class Unknown(Message, array_like=True, tag=True, gc=False):
    """What the codec gives for a message of no known kind; never sent."""

    kind: str


CLIENT_MESSAGES: tuple[type[Message], ...] = (
    Request, Answer, Refused, Referred, CheckOperation, Checked, AskView, ViewCopy
)  # fmt: skip
