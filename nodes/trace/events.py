"""Typed events: the only output of a server. Checks, the page, reports and stories read nothing else.

State events are never lost. A trace file consists of `Stamped`, which also travels to the control plane.
"""

from __future__ import annotations

from typing import Any

import msgspec

from nodes.trace.base import Event
from nodes.trace.block_events import BlockEvent
from nodes.trace.checkpoints import BarrierWritten, BlocksAtBarrier, CheckpointOutcome, TakenBack
from nodes.trace.election_events import Drawn
from nodes.trace.journal_events import JournalStored, LedgersForgotten, WriterFenced
from nodes.trace.lease_events import LeaseConfirmed, LeaseLost, LockRemoved
from nodes.trace.pool_events import (
    ImageRefused,
    ImageShelved,
    ImageWritten,
    JournalPruned,
    PacketRefused,
    PoolReported,
    Repairing,
    ReplicasDisagree,
    ReportRefused,
)  # fmt: skip

# --- any server ------------------------------------------------------------------------------------------------


class Started(Event, frozen=True, array_like=True, gc=False):
    pid: int
    address: str
    wall_ns: int
    """The server's own wall clock."""


class Stopped(Event, frozen=True, array_like=True, gc=False):
    reason: str


class RoleChanged(Event, frozen=True, array_like=True, gc=False):
    """The role that the server believes to have (its place in the global view is `Placed`)."""

    group: str
    role: str
    """One of active, standby, junior; `elected` while it upgrades; member, joining; `none` between."""
    epoch: int
    sn: int
    reason: str


class StepTaken(Event, frozen=True, array_like=True, gc=False):
    """A numbered step of one of the paper's procedures."""

    procedure: str
    """One of election, upgrade, renewing, shrink, …"""
    step: str
    paper: str
    detail: str
    epoch: int
    checkpoint: str = ""
    """Name of the checkpoint whose marking has this step; empty for other procedures."""
    outcome: str = ""
    """Outcome of the checkpoint, if the step decides it."""
    took_ms: float = 0.0
    """Time for which requests waited for the step; 0 where it is not measured."""


class Serving(Event, frozen=True, array_like=True, gc=False):
    """The active answers from here on; its state contains every group up to `sn`."""

    group: str
    epoch: int
    sn: int
    crc: int
    members: list[str] = []
    """Members of the view that begins; empty in families with a single leader."""


class StoppedServing(Event, frozen=True, array_like=True, gc=False):
    group: str
    epoch: int
    reason: str


class Durable(Event, frozen=True, array_like=True, gc=False):
    """A journal group is in this server's journal and synced. `crc` also covers the previous group's (epoch, sn, crc)."""

    sn: int
    epoch: int
    groupid: int
    crc: int
    records: int
    size: int


class Cut(Event, frozen=True, array_like=True, gc=False):
    """The journal was cut: no group after `sn` is left."""

    sn: int
    reason: str


class Committed(Event, frozen=True, array_like=True, gc=False):
    """The group is safe and its calls are being answered, as only the active reports. `operations` are [client, number] in their order (place 1,
    2, …)."""

    group: str
    sn: int
    epoch: int
    crc: int
    holders: list[str]
    """Members known to hold it durably."""
    configuration: int
    operations: list[tuple[str, int]]
    """("", 0) for a record that ends no client's call."""
    stamps: list[int] = []
    """The `at_ns` of each record, in a cluster of several groups."""
    results: list[int] = []
    """CRC-32C of each record's encoded result; 0 for a record that has none. Empty in families that do not report results."""


class SharedStep(Event, frozen=True, array_like=True, gc=False):
    """A committed log record of an operation on several groups (DCFS2 §4.3.1), which `(coordinator, seq)` identifies."""

    group: str
    coordinator: int
    """Number of the group that coordinates it."""
    seq: int
    step: str
    """One of begin, decide, end at the coordinator; vote, promise, outcome, finish at a participant."""
    commit: bool
    """The decision; also True for begin and promise."""
    peers: list[int]
    """At begin: the participating groups beside the coordinator."""


class Applied(Event, frozen=True, array_like=True, gc=False):
    """The namespace of this server contains every record up to `sn`. `digest` is an unsigned 64-bit integer."""

    sn: int
    epoch: int
    digest: int


class Delivered(Event, frozen=True, array_like=True, gc=False):
    """Symmetric members: a broadcast has got its place in the total order at this server (SAA §4.2)."""

    group: str
    view: int
    sn: int
    """Sn of the journal group made of the broadcast."""
    sender: str
    counter: int
    """Counts the sender's broadcasts in this view, from 1."""


class JournalOpened(Event, frozen=True, array_like=True, gc=False):
    """The journal that a restarted server found on its disk."""

    first_sn: int
    last_sn: int
    epoch: int
    crc: int
    cut_bytes: int
    image_sn: int
    disk: int = 0
    """Instance of the disk (safety rule 23)."""


class JournalCorrupt(Event, frozen=True, array_like=True, gc=False):
    file: str
    offset: int
    sn: int
    reason: str


class Renewing(Event, frozen=True, array_like=True, gc=False):
    """A junior reports the progress of its renewing."""

    phase: str
    """One of image, journal, final."""
    sn: int
    goal_sn: int


class WritesWait(Event, frozen=True, array_like=True, gc=False):
    """The log of a group is full and writes wait for an image, or they go on; reported by its leader (DCFS2 §4.3)."""

    group: str
    waits: bool
    size: int
    """Size of the journal behind the newest image."""
    limit: int


class Warned(Event, frozen=True, array_like=True, gc=False):
    """A warning for a person: an unauthenticated peer, an unknown message, a full disk."""

    what: str


class Commanded(Event, frozen=True, array_like=True, gc=False):
    """A person's command to this server over the control connection. What it brings about follows from this event."""

    command: str
    about: str
    """The checkpoint or the server that the command names; empty when it names none."""


class Ignored(Event, frozen=True, array_like=True, gc=False):
    """A message without effect: of another view, ballot or epoch, of a peer that takes no part, or of another configuration."""

    sender: str
    kind: str
    reason: str


# --- coordination (emitted by the observer of the tree, as server "coordination") ----------------------------------


class Placed(Event, frozen=True, array_like=True, gc=False):
    """A server's place in the global view: active, standby, junior; empty when it has none."""

    group: str
    server: str
    state: str
    epoch: int
    sn: int


class LockHeld(Event, frozen=True, array_like=True, gc=False):
    group: str
    owner: str
    """The holder of the lock; empty when there is none."""


class EpochRaised(Event, frozen=True, array_like=True, gc=False):
    group: str
    epoch: int
    active: str


class Configured(Event, frozen=True, array_like=True, gc=False):
    group: str
    number: int
    members: list[str]
    disks: dict[str, int] = {}
    """Recorded instance of each member's disk; empty before the group first serves."""


class SessionEnded(Event, frozen=True, array_like=True, gc=False):
    server: str
    session: int
    reason: str
    """One of expired, closed, taken."""


# --- clients ----------------------------------------------------------------------------------------------------------


class Called(Event, frozen=True, array_like=True, gc=False):
    """One call as the application saw it, reported when it returned or was given up."""

    client: str
    """The client's session."""
    number: int
    operation: Any
    """`[tag, …]`: the operation as encoded in messages."""
    invoked_ns: int
    returned_ns: int
    """Time of the return; 0 before it."""
    result: Any
    """The result as encoded in messages; None when there was an error."""
    error: str
    """POSIX name, `ETIMEDOUT` for an unknown outcome, empty for success."""
    server: str
    epoch: int
    sn: int
    place: int
    """For a write: its position in its group, from 1. For a read: the position of the last record of group sn that it saw."""
    tries: int
    stamp_ns: int = 0
    """Stamp of the group's clock, which all groups synchronise, when the call was carried out."""
    resolved_ns: int = 0
    """Time when the call's path was found to end at a file whose home is another group; 0 when it was not."""


class Invoked(Event, frozen=True, array_like=True, gc=False):
    """A call that has taken long enough to be reported before it returns."""

    client: str
    number: int
    operation: Any
    invoked_ns: int


# --- fabric -------------------------------------------------------------------------------------------------------------


class FaultInjected(Event, frozen=True, array_like=True, gc=False):
    fault: int
    verb: str
    targets: list[str]
    options: dict[str, Any]


class FaultEnded(Event, frozen=True, array_like=True, gc=False):
    fault: int
    verb: str
    targets: list[str]


class CheckFailed(Event, frozen=True, array_like=True, gc=False):
    """A checker's finding, reported as server "checks"."""

    invariant: str
    explanation: str
    evidence: list[tuple[str, int]]
    """(server, event number) pairs, oldest first."""


class ProcessEnded(Event, frozen=True, array_like=True, gc=False):
    """A process stopped without an injected fault."""

    server: str
    reason: str


class ProcessFound(Event, frozen=True, array_like=True, gc=False):
    """A process that was unreachable and reported as ended is running: its host can be reached again."""

    server: str
    pid: int
    role: str
    """The role that a metadata server had before, when it is the same process; `none` for a process that has started since."""


class ServerRemoved(Event, frozen=True, array_like=True, gc=False):
    """An operator has removed a metadata server from its group for good."""

    server: str
    group: str


# --- messages (may be dropped, and are counted then) ------------------------------------------------------------------


class MessageSent(Event, frozen=True, array_like=True, gc=False):
    to: str
    kind: str
    size: int


AnyEvent = (
    Started | Stopped | RoleChanged | StepTaken | Drawn | Serving | StoppedServing | Durable | Cut | Committed | Applied
    | Delivered | JournalOpened | JournalCorrupt | Renewing | ImageWritten | ImageShelved | ImageRefused | PacketRefused | JournalPruned
    | BarrierWritten | BlocksAtBarrier | CheckpointOutcome | TakenBack
    | PoolReported | ReportRefused | ReplicasDisagree | Repairing | LeaseLost | LeaseConfirmed | LockRemoved | WritesWait | Warned | Ignored
    | Commanded | Placed | LockHeld | EpochRaised | Configured
    | BlockEvent
    | JournalStored | WriterFenced | LedgersForgotten
    | SharedStep | SessionEnded | Called | Invoked | FaultInjected | FaultEnded | ProcessEnded | ProcessFound | ServerRemoved | CheckFailed
    | MessageSent
)  # fmt: skip


class Stamped(msgspec.Struct, frozen=True, array_like=True, gc=False):
    server: str
    boot: int
    """Counts the starts of this server, from 1."""
    number: int
    """Position in this server's trace, from 1, continuing over restarts."""
    at_ns: int
    """The machine's monotonic clock (virtual time in a simulation)."""
    cause: int
    """Number of the event, or of the client's call, that caused this event; 0 when none is known."""
    event: AnyEvent
    cause_server: str = ""
    """Server of the causing event, or session of the call; empty for an event of the same server."""
    carrier: str = ""
    """Kind of the message that brought the cause to this server; empty when none did."""
