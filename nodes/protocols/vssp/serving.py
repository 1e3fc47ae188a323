"""What a pool node hands out: which images it has, their files in pieces, and the checksums by which a peer finds what is bad."""

from __future__ import annotations

from collections.abc import Callable

from crc32c import crc32c

from nodes.metadata.images import ImageDamaged
from nodes.protocols.vssp import messages as m
from nodes.protocols.vssp.manifest import image_of, rank_of
from nodes.protocols.vssp.packets import PACKET_OCTETS, sums
from nodes.protocols.vssp.shelf import Shelf
from nodes.world import World

PIECE_MOST = 4 * PACKET_OCTETS
SUMS_MOST = 16
"""Packets whose checksums are told in one answer: a megabyte is read for them."""


class Serving:
    def __init__(self, world: World, shelf: Shelf, journal_first: Callable[[], int]):
        self._world = world
        self._shelf = shelf
        self._journal_first = journal_first
        """First sn of this server's journal."""

    def on_ask_images(self, peer: str, message: m.AskImages) -> None:
        """An image is offered when the journal goes on behind it."""
        first = self._journal_first()
        images = [image for image in self._shelf.images() if rank_of(image)[2] + 1 >= first]
        self._world.network.send(peer, m.ImagesTold(message.call, images))

    def on_fetch(self, peer: str, message: m.FetchFile) -> None:
        size = self._offered(message.file)
        length = max(0, min(message.length, PIECE_MOST))
        octets = b""
        if size >= 0 and 0 <= message.offset < size:
            octets = self._shelf.piece(message.file, message.offset, length)
        self._world.network.send(
            peer, m.FilePiece(message.call, message.file, message.offset, size, sums(octets), octets)
        )

    def on_ask_sums(self, peer: str, message: m.AskSums) -> None:
        size = self._offered(message.file)
        first = max(0, message.packet) * PACKET_OCTETS
        told: list[int] = []
        if 0 <= first < size:
            octets = self._shelf.piece(message.file, first, SUMS_MOST * PACKET_OCTETS)
            told = packet_sums(octets)
        self._world.network.send(peer, m.SumsTold(message.call, message.file, message.packet, told))

    def _offered(self, file: str) -> int:
        """The size of a file that may be handed out, or -1: only whole images are, and of them only their own files."""
        known = image_of(file)
        if known is None or known[0] not in self._shelf.images():
            return -1
        image, partition = known
        if partition is None:
            return self._shelf.size(file)
        try:
            partitions = self._shelf.manifest(image).partitions
        except (ImageDamaged, FileNotFoundError):
            return -1
        return partitions[partition].length if partition < len(partitions) else -1


def packet_sums(octets: bytes) -> list[int]:
    """The CRC-32C of each packet."""
    view = memoryview(octets)
    return [crc32c(view[start : start + PACKET_OCTETS]) for start in range(0, len(octets), PACKET_OCTETS)]
