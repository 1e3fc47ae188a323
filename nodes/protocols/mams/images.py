"""The image of a replica: the whole namespace at one sn (CFS §4.1.1), on its disk and on its way to a junior."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from nodes.config import SECOND
from nodes.metadata.images import dump, load
from nodes.metadata.namespace import Namespace
from nodes.protocols.mams.calls import Calls
from nodes.protocols.mams.log import NOTHING
from nodes.protocols.mams.messages import FetchImage, ImagePacket
from nodes.wire.messages import Mark
from nodes.world import World

IMAGE_FILE = "image/current"
PACKET_OCTETS = 1 << 19
ANSWER_NS = 5 * SECOND
TRIES = 5


class ImageFile(msgspec.Struct, array_like=True):
    """The file: the mark of the last group inside, and the chunks of `metadata.images`."""

    mark: Mark
    chunks: list[bytes]


class ImageStore:
    """Keeps one image, the newest."""

    def __init__(self, world: World):
        self._world = world
        self._serving: tuple[str, Mark, bytes] | None = None

    def newest(self, empty: Callable[[], Namespace]) -> tuple[Namespace, Mark]:
        """The namespace of the stored image and its mark; an empty one when there is none. Raises ImageDamaged."""
        try:
            octets = self._world.disk.read(IMAGE_FILE)
        except FileNotFoundError:
            return empty(), NOTHING
        return self._decode(octets)

    def _decode(self, octets: bytes) -> tuple[Namespace, Mark]:
        image = msgspec.msgpack.decode(octets, type=ImageFile)
        return load(image.chunks), image.mark

    async def install(self, octets: bytes) -> tuple[Namespace, Mark]:
        """Checks an image that was fetched and makes it the stored one. Raises ImageDamaged, msgspec.DecodeError."""
        namespace, mark = self._decode(octets)
        await self._world.disk.replace(IMAGE_FILE, octets)
        return namespace, mark

    def on_fetch(self, peer: str, message: FetchImage, namespace: Namespace, mark: Mark | None) -> None:
        """Hands out a packet; the first one of a reader makes the image. `mark` is None while this replica is ahead of commit."""
        if not message.image and mark is not None:
            octets = msgspec.msgpack.encode(ImageFile(mark, list(dump(namespace))))
            self._serving = (f"{self._world.name}-{mark.epoch}-{mark.sn}", mark, octets)
        if self._serving is None or (message.image and message.image != self._serving[0]):
            return
        name, image_mark, octets = self._serving
        packet = octets[message.offset : message.offset + min(message.length, PACKET_OCTETS)]
        self._world.network.send(
            peer, ImagePacket(message.call, name, image_mark, message.offset, len(octets), packet)
        )


async def fetch_image(calls: Calls, source: str) -> bytes | None:
    """Reads a whole image from a pool node, going on at the last offset after a lost packet; None when it does not answer."""
    image, octets, total = "", bytearray(), -1
    failures = 0
    while total < 0 or len(octets) < total:
        offset = len(octets)
        packet = await calls.ask(source, FetchImage(0, offset, PACKET_OCTETS, image), ANSWER_NS)
        if not isinstance(packet, ImagePacket) or packet.offset != offset:
            failures += 1
            if failures == TRIES:
                return None
            continue
        image, total = packet.image, packet.total
        octets += packet.octets
    return bytes(octets)
