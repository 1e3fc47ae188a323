"""The protocol of the control plane and a worker that carries simulated clusters: MessagePack frames behind their length, on a private socket."""

from __future__ import annotations

import struct

import msgspec

from backend.fabrics.clock import ClockState, Step
from backend.fabrics.links import LinkFault
from backend.simulated.inputs import LOG_BYTES, ClusterOrigin, Input, PastRun
from nodes.states import ProcessState
from nodes.trace.events import Stamped

FRAME_BYTES = 64 << 20
"""Longest frame. A longer one ends the connection."""
LENGTH = struct.Struct("<I")


class CreateCluster(msgspec.Struct, tag="create", frozen=True):
    cluster: str
    origin: ClusterOrigin
    log: str
    """Path of its input log."""
    past: PastRun | None = None
    """What it repeats first, as fast as it can; then it pauses."""
    log_bytes: int = LOG_BYTES


class DropCluster(msgspec.Struct, tag="drop", frozen=True):
    cluster: str


class ApplyInput(msgspec.Struct, tag="apply", frozen=True):
    cluster: str
    id: int
    input: Input


class Observe(msgspec.Struct, tag="observe", frozen=True):
    """Asks a server a question that changes nothing, or, without a server, for the coordination tree or its sessions."""

    cluster: str
    id: int
    server: str
    question: dict[str, str | int | bool | float]


class SetClock(msgspec.Struct, tag="clock", frozen=True):
    """Plays, pauses or changes the speed. With an instant, a kind of event or a condition of the state it pauses by itself when that comes."""

    cluster: str
    id: int
    playing: bool
    speed: float
    until_ns: int = 0
    until_event: str = ""
    until_condition: str = ""
    met: str = ""
    """What it is paused for, when the control plane has found it."""


class StepClock(msgspec.Struct, tag="step", frozen=True):
    """Advances a paused cluster to the end of the next instant at which an event happens or a message is delivered."""

    cluster: str
    id: int
    step: Step


Request = CreateCluster | DropCluster | ApplyInput | Observe | SetClock | StepClock


class ClusterProgress(msgspec.Struct, tag="progress"):
    """What has happened in a cluster since the last frame. Parts that have not changed are None."""

    cluster: str
    clock: ClockState
    events: list[Stamped] = []
    states: dict[str, ProcessState] | None = None
    roles: dict[str, str] | None = None
    links: list[LinkFault] | None = None


class Answered(msgspec.Struct, tag="answered", frozen=True):
    """The result of a request, in an encoding of its own."""

    cluster: str
    id: int
    body: bytes
    active: str = ""
    """The server that the calls' client believes to be the active."""


class RequestFailed(msgspec.Struct, tag="failed", frozen=True):
    """`kind` is the class of an error of backend/errors.py, or `FsError` with a POSIX name."""

    cluster: str
    id: int
    kind: str
    message: str
    name: str = ""


class ClusterEnded(msgspec.Struct, tag="ended", frozen=True):
    """The cluster cannot go on: an error in the code of a server or of the simulator."""

    cluster: str
    reason: str


Report = ClusterProgress | Answered | RequestFailed | ClusterEnded
