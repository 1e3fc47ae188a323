"""Events about checkpoints of the whole cluster, and about rollback to one (CFS §4.3)."""

from __future__ import annotations

from nodes.trace.base import Event


class BarrierWritten(Event, frozen=True, array_like=True, gc=False):
    """The barrier of a checkpoint is committed in this group's journal, under its own sn (CFS §4.3)."""

    group: str
    name: str
    stamp_ns: int
    """The time on which all groups agreed."""
    sn: int
    epoch: int
    crc: int
    digest: int
    """Digest of the namespace at the barrier."""
    next_block: int = 0
    """Every block that the namespace at the barrier names has a lower number."""


class BlocksAtBarrier(Event, frozen=True, array_like=True, gc=False):
    """The finished blocks that this group's namespace names at the barrier, reported once it is committed; only when there are some."""

    group: str
    name: str
    blocks: list[tuple[int, int, int]]
    """(number, stamp, length)."""
    more: bool
    """Whether another such event follows."""


class CheckpointOutcome(Event, frozen=True, array_like=True, gc=False):
    """The outcome of a checkpoint, as the time server reports it: complete, void, or empty when it is unknown."""

    name: str
    outcome: str
    stamp_ns: int
    barriers: dict[str, int]
    """Sn of each group's barrier; empty unless the checkpoint is complete."""


class TakenBack(Event, frozen=True, array_like=True, gc=False):
    """This server has rolled back to the barrier of a checkpoint, and its later events belong to a new incarnation of the cluster."""

    group: str
    incarnation: int
    checkpoint: str
    epoch: int
    sn: int
    """Sn of the barrier; 0 when this server does not have it and begins with the state of others."""
    crc: int
    digest: int
    groups: int
    """Number of journal groups that were quarantined."""
    operations: int
    """Number of client operations in these groups."""
    next_sn: int = 0
    """Sn of the first group of the new incarnation; 0 when it follows on the barrier."""
