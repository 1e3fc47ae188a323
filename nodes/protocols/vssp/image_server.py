"""A pool node's replies: its images, their files in pieces, and the checksums with which a peer finds bad packets."""

from __future__ import annotations

from collections.abc import Callable

from crc32c import crc32c

from nodes.config import SECOND
from nodes.metadata.images import ImageDamaged
from nodes.protocols.vssp import messages as m
from nodes.protocols.vssp.image_directory import LocalImageDirectory
from nodes.protocols.vssp.manifest import image_of, rank_of
from nodes.protocols.vssp.packets import PACKET_BYTES, sums
from nodes.world import World

PIECE_MOST = 4 * PACKET_BYTES
SUMS_MOST = 16
"""Packets whose checksums are sent in one reply: a megabyte is read for them."""
LINGER_NS = 5 * SECOND
"""An image stays for this time after a peer has read of it: it may take longer to read than two newer ones to write."""


class ImageServer:
    def __init__(self, world: World, local_images: LocalImageDirectory, journal_first: Callable[[], int]):
        self._world = world
        self._local_images = local_images
        self._journal_first = journal_first
        """First sn of this server's journal."""
        self._read_at_ns: dict[str, int] = {}

    def being_read(self) -> set[str]:
        """Images that peers are reading."""
        now_ns = self._world.clock.monotonic_ns()
        lately = {image: at_ns for image, at_ns in self._read_at_ns.items() if now_ns - at_ns < LINGER_NS}
        self._read_at_ns = lately
        return set(lately)

    def on_ask_images(self, peer: str, message: m.AskImages) -> None:
        """Offers the images from which the journal continues."""
        first = self._journal_first()
        images = [image for image in self._local_images.images() if rank_of(image)[2] + 1 >= first]
        self._world.network.send(peer, m.ImagesReply(message.call, images))

    def on_fetch(self, peer: str, message: m.FetchFile) -> None:
        size = self._offered(message.file)
        length = max(0, min(message.length, PIECE_MOST))
        data = b""
        if size >= 0 and 0 <= message.offset < size:
            data = self._local_images.piece(message.file, message.offset, length)
        self._world.network.send(
            peer, m.FilePiece(message.call, message.file, message.offset, size, sums(data), data)
        )

    def on_ask_sums(self, peer: str, message: m.AskSums) -> None:
        size = self._offered(message.file)
        first = max(0, message.packet) * PACKET_BYTES
        reported: list[int] = []
        if 0 <= first < size:
            data = self._local_images.piece(message.file, first, SUMS_MOST * PACKET_BYTES)
            reported = packet_sums(data)
        self._world.network.send(peer, m.SumsReply(message.call, message.file, message.packet, reported))

    def _offered(self, file: str) -> int:
        """The size of a file that may be sent, else -1: only the own files of whole images may be."""
        known = image_of(file)
        if known is None or known[0] not in self._local_images.images():
            return -1
        image, partition = known
        self._read_at_ns[image] = self._world.clock.monotonic_ns()
        if partition is None:
            return self._local_images.size(file)
        try:
            partitions = self._local_images.manifest(image).partitions
        except (ImageDamaged, FileNotFoundError):
            return -1
        return partitions[partition].length if partition < len(partitions) else -1


def packet_sums(data: bytes) -> list[int]:
    view = memoryview(data)
    return [crc32c(view[start : start + PACKET_BYTES]) for start in range(0, len(data), PACKET_BYTES)]
