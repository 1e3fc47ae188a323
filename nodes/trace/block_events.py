"""Events of data nodes and of the block map (CFS §3.3)."""

from __future__ import annotations

from nodes.trace.base import Event


class ReplicaStored(Event, frozen=True, array_like=True, gc=False):
    """A whole replica of a block is durable on this data node."""

    block: int
    stamp: int
    length: int


class ReplicaDamaged(Event, frozen=True, array_like=True, gc=False):
    """A checksum of this replica is wrong: it is not given out any more."""

    block: int
    stamp: int
    why: str


class ReplicaRemoved(Event, frozen=True, array_like=True, gc=False):
    block: int
    stamp: int
    reason: str
    """freed, excess, stale or damaged, as the active said; replaced by a later writing; set aside by a recovery to a checkpoint."""


class ReplicasFound(Event, frozen=True, array_like=True, gc=False):
    """What a data node that starts has on its disk: (block, stamp) of whole replicas."""

    blocks: list[tuple[int, int]]
    more: bool
    """Whether another such event follows."""


class BlocksSetAside(Event, frozen=True, array_like=True, gc=False):
    """This data node has gone back with a group to a checkpoint: of what was written later it has nothing in use any more (CFS §4.3)."""

    group: str
    incarnation: int
    blocks: int
    octets: int
    """What it set aside for that just now, in the replicas that it kept."""


class NodeHolds(Event, frozen=True, array_like=True, gc=False):
    """How much a data node has, told at most once a second."""

    blocks: int
    octets: int
    damaged: int


class BlockHealth(Event, frozen=True, array_like=True, gc=False):
    """Told by the active when a finished block is not as it should be, and when it is again or nobody wants it any more."""

    group: str
    epoch: int
    block: int
    stamp: int
    length: int
    health: str
    """whole, under, over, missing, or freed."""
    holders: list[str]
    """Data nodes that are known to have a good replica; of a freed block nobody is named."""


class DataNodeLost(Event, frozen=True, array_like=True, gc=False):
    """Told by the active: nothing was heard of the data node for too long."""

    group: str
    node: str


class FileCalled(Event, frozen=True, array_like=True, gc=False):
    """One put, append or get as the application saw it, told when it returned."""

    client: str
    verb: str
    path: str
    octets: int
    """Written behind the record's head, or read."""
    invoked_ns: int
    returned_ns: int
    error: str
    """POSIX name; EBADMSG when other octets were read than had been written; empty for success."""
    wrong_at: int
    """Where what was read is not what was written; -1 when it is."""
    lacking_ns: int
    """When the newest record was acknowledged that was not there to be read; 0 when nothing lacked."""
