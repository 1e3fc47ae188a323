"""Events of the storage pool: images, reports, repair (VSSP §III)."""

from __future__ import annotations

import msgspec

from nodes.trace.base import Event

HELD_MOST = 256
"""Largest number of files in one report's event."""


class ImageWritten(Event, frozen=True, array_like=True, gc=False):
    """An image of the namespace at `sn` was sent to the pool (VSSP §III.D). It is whole on the holders, including the writer."""

    image: str
    sn: int
    partitions: int
    size: int
    holders: list[str]
    replicated_ms: int
    """Time until every packet was on enough replicas."""
    took_ms: int
    """Time until the image counted on all holders."""


class ImageShelved(Event, frozen=True, array_like=True, gc=False):
    """A whole image is on this server's disk and counts from now on."""

    image: str
    sn: int
    partitions: int
    size: int


class ImageRefused(Event, frozen=True, array_like=True, gc=False):
    """An image on this server's disk, or one that it was reading, is damaged and not used."""

    image: str
    reason: str


class PacketRefused(Event, frozen=True, array_like=True, gc=False):
    """A packet of an image was refused. `have` bytes of its partition are here, -1 for an unknown image."""

    image: str
    partition: int
    have: int
    reason: str


class JournalPruned(Event, frozen=True, array_like=True, gc=False):
    """The journal now begins at `first_sn`: an image on a majority contains the groups before."""

    first_sn: int


class HeldFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A replica of a file, as its pool node reports it."""

    name: str
    size: int
    valid: int
    """Number of good bytes from the beginning."""
    checksum: int
    epoch: int
    first_sn: int
    last_sn: int


class PoolReported(Event, frozen=True, array_like=True, gc=False):
    """A pool node reported the files that it has (VSSP §III.B)."""

    node: str
    files: int
    size: int
    held: list[HeldFile] = []
    """The newest files, at most `HELD_MOST`, in the order of their names."""


class ReportRefused(Event, frozen=True, array_like=True, gc=False):
    """A pool node's report cannot be true."""

    node: str
    reason: str


class ReplicasDisagree(Event, frozen=True, array_like=True, gc=False):
    """Replicas of a file differ. `remedy` is recover, remove, or empty when the good replica is unknown."""

    file: str
    node: str
    remedy: str
    reason: str
    behind_by: int = 0
    """Number of journal groups that the node lacks at the end; 0 when another fault is reported."""


class Repairing(Event, frozen=True, array_like=True, gc=False):
    """A replica is being completed: `offset` bytes of `size` are good. The repair began at the first bad or missing byte."""

    file: str
    source: str
    began: int
    offset: int
    size: int
