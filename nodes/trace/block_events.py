"""Events of data nodes and of the block map (CFS §3.3)."""

from __future__ import annotations

from nodes.trace.base import Event
from nodes.wire.data_messages import Removal


class ReplicaStored(Event, frozen=True, array_like=True, gc=False):
    """A whole replica of a block is durable on this data node."""

    block: int
    stamp: int
    length: int


class ReplicaDamaged(Event, frozen=True, array_like=True, gc=False):
    """A checksum of this replica is wrong: the data node does not serve it any more."""

    block: int
    stamp: int
    why: str


class ReplicaRemoved(Event, frozen=True, array_like=True, gc=False):
    block: int
    stamp: int
    removal: Removal


class WriteRefused(Event, frozen=True, array_like=True, gc=False):
    """This data node takes no more of a block, whose writer goes on without it: no room, a slow disk, a wrong checksum."""

    block: int
    stamp: int
    why: str


class ReplicasFound(Event, frozen=True, array_like=True, gc=False):
    """The replicas on the disk of a data node that starts: (block, stamp) of whole replicas."""

    blocks: list[tuple[int, int]]
    more: bool
    """Whether another such event follows."""


class BlocksSetAside(Event, frozen=True, array_like=True, gc=False):
    """This data node has rolled back to a checkpoint with a group: no later replica is in use any more (CFS §4.3)."""

    group: str
    incarnation: int
    blocks: int
    size: int
    """Bytes of the replicas that it quarantined just now."""


class NodeHolds(Event, frozen=True, array_like=True, gc=False):
    """The amount of data on a data node, reported at most once a second."""

    blocks: int
    size: int
    damaged: int


class BlockHealth(Event, frozen=True, array_like=True, gc=False):
    """The health of a finished block. The active reports it when the block is not whole, and when it is whole again or freed."""

    group: str
    epoch: int
    block: int
    stamp: int
    length: int
    health: str
    """One of whole, under, over, missing, freed."""
    holders: list[str]
    """Data nodes known to have a good replica; empty for a freed block."""


class DataNodeLost(Event, frozen=True, array_like=True, gc=False):
    """The active reports that a data node has been silent for too long."""

    group: str
    node: str


class FileCalled(Event, frozen=True, array_like=True, gc=False):
    """One put, append or get as the application saw it, reported when it returned."""

    client: str
    verb: str
    path: str
    size: int
    """Bytes written behind the record's head, or read."""
    invoked_ns: int
    returned_ns: int
    error: str
    """POSIX name; EBADMSG when the bytes read differ from those written; empty for success."""
    wrong_at: int
    """Offset of the first byte that differs from the one written; -1 when there is none."""
    lacking_ns: int
    """Time when the newest missing record was acknowledged; 0 when none was missing."""


BlockEvent = (
    ReplicaStored | ReplicaDamaged | ReplicaRemoved | WriteRefused | ReplicasFound
    | NodeHolds | BlockHealth | BlocksSetAside | DataNodeLost | FileCalled
)  # fmt: skip
"""Every event of this table."""
