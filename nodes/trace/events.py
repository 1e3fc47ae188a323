"""Typed events: the only output of a server. Checks, page, reports and stories read nothing else.

State events are never lost. `Stamped` is what lies in a trace file and travels to the control plane.
"""

from __future__ import annotations

from typing import Any

import msgspec

from nodes.trace.base import Event
from nodes.trace.block_events import (
    BlockHealth,
    BlocksSetAside,
    DataNodeLost,
    FileCalled,
    NodeHolds,
    ReplicaDamaged,
    ReplicaRemoved,
    ReplicasFound,
    ReplicaStored,
)
from nodes.trace.checkpoints import BarrierWritten, BlocksAtBarrier, CheckpointOutcome, TakenBack
from nodes.trace.journal_events import JournalStored, WriterFenced
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
)

# --- any server ------------------------------------------------------------------------------------------------


class Started(Event, frozen=True, array_like=True, gc=False):
    pid: int
    address: str
    wall_ns: int
    """The server's own idea of the time of day."""


class Stopped(Event, frozen=True, array_like=True, gc=False):
    reason: str


class RoleChanged(Event, frozen=True, array_like=True, gc=False):
    """What the server believes of itself (its place in the global view is `Placed`)."""

    group: str
    role: str
    """active, standby, junior; `elected` while it upgrades; member, joining; `none` between."""
    epoch: int
    sn: int
    reason: str


class StepTaken(Event, frozen=True, array_like=True, gc=False):
    """A numbered step of a procedure of the paper."""

    procedure: str
    """election, upgrade, renewing, shrink, …"""
    step: str
    paper: str
    detail: str
    epoch: int


class Serving(Event, frozen=True, array_like=True, gc=False):
    """The active answers from here on, with every group up to `sn` in its state."""

    group: str
    epoch: int
    sn: int
    crc: int
    members: list[str] = []
    """Of the view that begins; empty where one server leads."""


class StoppedServing(Event, frozen=True, array_like=True, gc=False):
    group: str
    epoch: int
    reason: str


class Durable(Event, frozen=True, array_like=True, gc=False):
    """A journal group is in this server's journal and synced. crc covers the previous group's (epoch, sn, crc)."""

    sn: int
    epoch: int
    groupid: int
    crc: int
    records: int
    octets: int


class Cut(Event, frozen=True, array_like=True, gc=False):
    """The journal was cut: nothing after `sn` is left."""

    sn: int
    reason: str


class Committed(Event, frozen=True, array_like=True, gc=False):
    """Told by the active alone: the group is safe and is being answered. `operations` are [client, number] in their order (place 1, 2, …)."""

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
    """In a cluster of several groups, the `at_ns` of each record."""
    results: list[int] = []
    """CRC-32C of each record's result as it travels; 0 for a record that has none. Empty where a family does not tell."""


class SharedStep(Event, frozen=True, array_like=True, gc=False):
    """A committed log record of an operation on several groups (DCFS2 §4.3.1); `(coordinator, seq)` names it."""

    group: str
    coordinator: int
    """Number of the group that coordinates it."""
    seq: int
    step: str
    """begin, decide, end at the coordinator; vote, promise, outcome, finish at a participant."""
    commit: bool
    """What was decided; True for begin and promise too."""
    peers: list[int]
    """At begin: the groups that take part beside the coordinator."""


class Applied(Event, frozen=True, array_like=True, gc=False):
    """The namespace of this server holds every record up to sn. digest is 64 bits as an unsigned integer."""

    sn: int
    epoch: int
    digest: int


class Delivered(Event, frozen=True, array_like=True, gc=False):
    """Symmetric members: a broadcast has found its place in the total order at this server (SAA §4.2)."""

    group: str
    view: int
    sn: int
    """Of the journal group that it becomes."""
    sender: str
    counter: int
    """Counts the sender's broadcasts in this view, from 1."""


class JournalOpened(Event, frozen=True, array_like=True, gc=False):
    """What a restarted server found on its disk."""

    first_sn: int
    last_sn: int
    epoch: int
    crc: int
    cut_octets: int
    image_sn: int


class JournalCorrupt(Event, frozen=True, array_like=True, gc=False):
    file: str
    offset: int
    sn: int
    reason: str


class Renewing(Event, frozen=True, array_like=True, gc=False):
    """Progress of a junior's renewing, told by the junior."""

    phase: str
    """image, journal, final."""
    sn: int
    goal_sn: int


class LeaseLost(Event, frozen=True, array_like=True, gc=False):
    """The active answers nobody: its coordination session has not been confirmed in time (safety rule 16)."""

    epoch: int
    late_ns: int


class LeaseConfirmed(Event, frozen=True, array_like=True, gc=False):
    """The active answers again."""

    epoch: int


class Warned(Event, frozen=True, array_like=True, gc=False):
    """Something a person should know: a stranger at the port, an unknown message, a full disk."""

    what: str


class Ignored(Event, frozen=True, array_like=True, gc=False):
    """A message without effect: of another view, ballot or epoch, of somebody who has no part in it, or of another configuration."""

    sender: str
    kind: str
    reason: str


# --- coordination (emitted by whoever observes the tree, as server "coordination") ---------------------------------


class Placed(Event, frozen=True, array_like=True, gc=False):
    """A server's place in the global view: active, standby, junior, or empty when it has none."""

    group: str
    server: str
    state: str
    epoch: int
    sn: int


class LockHeld(Event, frozen=True, array_like=True, gc=False):
    group: str
    owner: str
    """Empty when nobody holds it."""


class EpochRaised(Event, frozen=True, array_like=True, gc=False):
    group: str
    epoch: int
    active: str


class Configured(Event, frozen=True, array_like=True, gc=False):
    group: str
    number: int
    members: list[str]


class SessionEnded(Event, frozen=True, array_like=True, gc=False):
    server: str
    session: int
    reason: str
    """expired, closed, taken."""


# --- clients ----------------------------------------------------------------------------------------------------------


class Called(Event, frozen=True, array_like=True, gc=False):
    """One call as the application saw it, written when it returned (or was given up)."""

    client: str
    """The client's session."""
    number: int
    operation: Any
    """`[tag, …]`: the operation as it travels."""
    invoked_ns: int
    returned_ns: int
    """0 while it has not returned."""
    result: Any
    """The result as it travels; None when there was an error."""
    error: str
    """POSIX name, `ETIMEDOUT` for an unknown outcome, empty for success."""
    server: str
    epoch: int
    sn: int
    place: int
    """A write: its position in its group, from 1. A read: the position of the last record it saw of group sn."""
    tries: int
    stamp_ns: int = 0
    """The group's clock when it was carried out, which all groups keep in step."""
    resolved_ns: int = 0
    """When its path was found to end at a file whose home is another group; 0 when it was not."""


class Invoked(Event, frozen=True, array_like=True, gc=False):
    """A call that has gone on for long enough to be worth knowing of before it returns."""

    client: str
    number: int
    operation: Any
    invoked_ns: int


# --- data nodes -------------------------------------------------------------------------------------------------------


# --- fabric -------------------------------------------------------------------------------------------------------------


class FaultInjected(Event, frozen=True, array_like=True, gc=False):
    fault: int
    """Number of the fault in this run."""
    verb: str
    targets: list[str]
    options: dict[str, Any]


class FaultEnded(Event, frozen=True, array_like=True, gc=False):
    fault: int
    verb: str
    targets: list[str]


class CheckFailed(Event, frozen=True, array_like=True, gc=False):
    """Told by a checker, as server "checks"."""

    invariant: str
    explanation: str
    evidence: list[tuple[str, int]]
    """(server, event number) pairs, oldest first."""


class ProcessEnded(Event, frozen=True, array_like=True, gc=False):
    """A process stopped and no fault of ours had stopped it."""

    server: str
    reason: str


class ProcessFound(Event, frozen=True, array_like=True, gc=False):
    """A process that could not be seen, and was told as ended, runs: its host can be reached again."""

    server: str
    pid: int
    role: str
    """What a metadata server believed of itself before, when it is the same process; `none` for one that has begun since."""


# --- messages (may be dropped, and are counted then) ------------------------------------------------------------------


class MessageSent(Event, frozen=True, array_like=True, gc=False):
    to: str
    kind: str
    octets: int


class MessageReceived(Event, frozen=True, array_like=True, gc=False):
    sender: str
    kind: str
    octets: int


class MessageDropped(Event, frozen=True, array_like=True, gc=False):
    to: str
    kind: str
    reason: str


AnyEvent = (
    Started | Stopped | RoleChanged | StepTaken | Serving | StoppedServing | Durable | Cut | Committed | Applied
    | Delivered | JournalOpened | JournalCorrupt | Renewing | ImageWritten | ImageShelved | ImageRefused | PacketRefused | JournalPruned
    | BarrierWritten | BlocksAtBarrier | CheckpointOutcome | TakenBack
    | PoolReported | ReportRefused | ReplicasDisagree | Repairing | LeaseLost | LeaseConfirmed | Warned | Ignored
    | Placed | LockHeld | EpochRaised | Configured
    | ReplicaStored | ReplicaDamaged | ReplicaRemoved | ReplicasFound | NodeHolds | BlockHealth | BlocksSetAside | DataNodeLost | FileCalled
    | JournalStored | WriterFenced
    | SharedStep | SessionEnded | Called | Invoked | FaultInjected | FaultEnded | ProcessEnded | ProcessFound | CheckFailed
    | MessageSent | MessageReceived | MessageDropped
)  # fmt: skip


class Stamped(msgspec.Struct, frozen=True, array_like=True, gc=False):
    server: str
    boot: int
    """Counts the starts of this server, from 1."""
    number: int
    """Position in this server's trace, from 1, going on over restarts."""
    at_ns: int
    """The machine's monotonic clock (virtual time in a simulation)."""
    cause: int
    """Number of the event, or of the client's call, that led here; 0 when none is known."""
    event: AnyEvent
    cause_server: str = ""
    """Whose event that is, or the session of the call; empty for an event of the same server."""
