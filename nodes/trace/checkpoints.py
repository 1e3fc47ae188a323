"""Events of checkpoints of the whole cluster, and of going back to one (CFS §4.3)."""

from __future__ import annotations

from nodes.trace.base import Event


class BarrierWritten(Event, frozen=True, array_like=True, gc=False):
    """The barrier of a checkpoint is committed in this group's journal, under a sn of its own (CFS §4.3)."""

    group: str
    name: str
    stamp_ns: int
    """What all groups agreed to call the time."""
    sn: int
    epoch: int
    crc: int
    digest: int
    """Of the namespace at the barrier."""
    next_block: int = 0
    """Every block that is named at the barrier has a lower number."""


class BlocksAtBarrier(Event, frozen=True, array_like=True, gc=False):
    """The finished blocks that this group's namespace names at the barrier, told once it is committed; only where there are some."""

    group: str
    name: str
    blocks: list[tuple[int, int, int]]
    """(number, stamp, length)."""
    more: bool
    """Whether another such event follows."""


class CheckpointOutcome(Event, frozen=True, array_like=True, gc=False):
    """Told by the time server: complete, void, or empty when it could not learn it."""

    name: str
    outcome: str
    stamp_ns: int
    barriers: dict[str, int]
    """Sn of the barrier, by group; empty unless it is complete."""


class TakenBack(Event, frozen=True, array_like=True, gc=False):
    """This server has gone back to the barrier of a checkpoint, and tells of a new incarnation of the cluster from here on."""

    group: str
    incarnation: int
    checkpoint: str
    epoch: int
    """With which the incarnation begins in this group."""
    sn: int
    """Of the barrier; 0 when this server does not have it and begins anew from others."""
    crc: int
    digest: int
    groups: int
    """Groups of the journal that were set aside."""
    operations: int
    """Of clients, in them."""
