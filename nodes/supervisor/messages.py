"""Messages between a supervisor and the control plane: MessagePack in the frames of `nodes.wire.framing`, after its greeting."""

from __future__ import annotations

from typing import Any

import msgspec

from nodes.states import ProcessState
from nodes.trace.events import Stamped

CLUSTER = "supervisors"
"""Replaces the cluster's name in the greeting: a supervisor outlives the clusters it serves."""
PORT = 7700
CONTROL = "control"


class ControlQuestion(msgspec.Struct):
    id: int
    do: str
    args: dict[str, Any] = {}


class ControlReply(msgspec.Struct, tag="Reply"):
    id: int
    error: str = ""
    """One line when the question was refused, else empty."""
    result: dict[str, Any] = {}


class Events(msgspec.Struct, tag=True):
    """The next events of the server's trace."""

    stamped: list[Stamped]


class Status(msgspec.Struct, tag=True):
    """Status of the process; sent at every change and once a second."""

    name: str
    kind: str
    """One of server, data-node, workload, zookeeper; empty before the first start."""
    cluster: str
    state: ProcessState
    """One of running, paused, stopped."""
    pid: int
    began_ns: int
    """Start time by the clock of `monotonic_ns`; 0 before the first start."""
    ended: str
    """Why the process ended by itself, in one line; empty when it did not."""
    role: str
    """Role of a ZooKeeper server: leader, follower, looking or down."""
    address: str
    """Address on the data network."""
    container: str
    image: str
    boot_id: str
    """Identity of the machine's kernel: containers that share it share the clock."""
    monotonic_ns: int
    wall_ns: int
    netem: bool
    """Whether the kernel can delay and lose packets."""
    free_bytes: int
    """Free bytes of the volume."""
    memory_share: float = 0.0
    """Used share of the container's memory limit."""


SupervisorMessage = ControlReply | Events | Status
