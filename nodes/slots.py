"""The interfaces of the slots: what a family may ask of a mechanism that it does not know by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from nodes.metadata.namespace import Namespace
from nodes.wire.messages import Mark, Message
from nodes.world import World


class StoredFile(msgspec.Struct, array_like=True, frozen=True):
    """One replica of a file, as the pool node that has it reports it (VSSP §III.B)."""

    name: str
    size: int
    """Octets on the disk."""
    valid: int
    """Octets from the beginning that are whole."""
    checksum: int
    """Of the valid octets; of a journal, the chained CRC of its last group."""
    incarnation: int
    epoch: int
    """Of the last valid sn."""
    first_sn: int
    last_sn: int
    """An image reaches from 0 to the last group inside."""


class StoredImage(msgspec.Struct, frozen=True):
    """An image that is whole on some pool nodes."""

    sn: int
    """Of the last group inside."""
    holders: list[str]


class ImageStore(Protocol):
    """Slot `image_store`: where an image lies, how it is moved and repaired."""

    handlers: dict[type[Message], Callable[[str, Any], None]]
    pinned: set[int]
    """Serial numbers of checkpoints: an image at or below each, and the journal from there, stay (safety rule 14)."""

    async def run(self) -> None:
        """The pool node: takes and keeps what others send; for ever. Raises OSError of the disk."""

    def newest(self, accepts: Callable[[Mark], bool]) -> tuple[Namespace, Mark] | None:
        """The newest whole image on this disk whose mark is accepted; a damaged one is told and passed over.

        Raises UnknownFormat, OSError.
        """

    def stored(self) -> list[int]:
        """The sn of every whole image on this disk, the newest last."""

    def kept_sn(self) -> int:
        """This server needs its own journal from behind this sn: its newest image, or an older one that is pinned; 0 without any."""

    async def write(
        self, namespace: Namespace, mark: Mark, replicas: list[str], dumped: Callable[[], None]
    ) -> list[str]:
        """Writes an image here and to the other replicas; returns who has it whole.

        The namespace must not change until `dumped` is called. Raises OSError.
        """

    async def read(self, sources: list[str], progress: Callable[[], None]) -> tuple[Namespace, Mark] | None:
        """Copies the best image that the sources offer to this disk, going on where an earlier attempt ended; None when that failed.

        `progress` is called for every megabyte. Raises OSError.
        """

    async def survey(self, nodes: list[str]) -> list[StoredImage]:
        """Compares what the nodes report and sends who lacks something to repair it; the images, newest last."""


MakeImageStore = Callable[[World, int, Callable[[], list[StoredFile]], Callable[[], int]], ImageStore]
"""(world, partitions, the journals of this server's report, first sn of its journal)."""
