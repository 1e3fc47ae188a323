"""Events of the storage pool: images, reports, repair (VSSP §III)."""

from __future__ import annotations

import msgspec

from nodes.trace.base import Event

HELD_MOST = 256
"""Files named in one report's event."""


class ImageWritten(Event, frozen=True, array_like=True, gc=False):
    """An image of the namespace at `sn` was sent to the pool (VSSP §III.D); it is whole on the holders, the writer among them."""

    image: str
    sn: int
    partitions: int
    octets: int
    holders: list[str]
    replicated_ms: int
    """Until every packet was on enough replicas."""
    took_ms: int
    """Until the image counted on all holders."""


class ImageShelved(Event, frozen=True, array_like=True, gc=False):
    """A whole image is on this server's disk and counts from here on."""

    image: str
    sn: int
    partitions: int
    octets: int


class ImageRefused(Event, frozen=True, array_like=True, gc=False):
    """An image on this server's disk, or one that it was reading, is damaged and not believed."""

    image: str
    reason: str


class PacketRefused(Event, frozen=True, array_like=True, gc=False):
    """A packet of an image was not taken; `have` octets of its partition are here, -1 for an unknown image."""

    image: str
    partition: int
    have: int
    reason: str


class JournalPruned(Event, frozen=True, array_like=True, gc=False):
    """The journal begins at `first_sn` now: an image on a majority holds what came before."""

    first_sn: int


class HeldFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A replica of a file as its pool node reports it."""

    name: str
    size: int
    valid: int
    """Octets from the beginning that are whole."""
    checksum: int
    epoch: int
    first_sn: int
    last_sn: int


class PoolReported(Event, frozen=True, array_like=True, gc=False):
    """A pool node told which files it has (VSSP §III.B)."""

    node: str
    files: int
    octets: int
    held: list[HeldFile] = []
    """The newest ones, `HELD_MOST` at most, in the order of their names."""


class ReportRefused(Event, frozen=True, array_like=True, gc=False):
    """A pool node's report cannot be true."""

    node: str
    reason: str


class ReplicasDisagree(Event, frozen=True, array_like=True, gc=False):
    """Replicas of a file differ; `remedy` is recover, remove, or empty when nobody can say who is right."""

    file: str
    node: str
    remedy: str
    reason: str


class Repairing(Event, frozen=True, array_like=True, gc=False):
    """A replica is being completed: `offset` octets of `size` are good; it began at the first bad or missing one."""

    file: str
    source: str
    began: int
    offset: int
    size: int
