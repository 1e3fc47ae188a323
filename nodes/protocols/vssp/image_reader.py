"""Reading an image from the pool (VSSP §III.D; CFS §4.2.3): its partitions in parallel, from every pool node that has them.

Good bytes of an earlier attempt on this disk are kept: reading continues at the committed point, also from another source.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from crc32c import crc32c

from nodes.calls import Calls
from nodes.config import MILLISECOND
from nodes.metadata.images import ImageDamaged, Loader, whole_bytes
from nodes.metadata.namespace import Namespace
from nodes.protocols.vssp import messages as m
from nodes.protocols.vssp.fetcher import NotFetched, fetch_piece
from nodes.protocols.vssp.image_directory import LocalImageDirectory
from nodes.protocols.vssp.image_server import PIECE_MOST
from nodes.protocols.vssp.manifest import (
    MANIFEST_MAX,
    NAME,
    Manifest,
    PartitionEntry,
    decode,
    manifest_file,
    partition_file,
    path_of,
    rank_of,
)
from nodes.protocols.vssp.packets import PACKET_BYTES
from nodes.trace.pool_events import ImageRefused, ImageShelved, Repairing
from nodes.wire.messages import Mark
from nodes.world import World

ANSWER_NS = 500 * MILLISECOND
SYNC_BYTES = 1 << 20


class PoolImageReader:
    """One image that this server is reading."""

    def __init__(
        self,
        world: World,
        local_images: LocalImageDirectory,
        calls: Calls,
        files: asyncio.Lock,
        changes: Callable[[str], None],
    ):
        """`changes` is called with an image before its files change on this disk."""
        self._world = world
        self._changes = changes
        self._local_images = local_images
        self._calls = calls
        self._files = files
        self.image = ""
        self._failures = 0
        """Failed readings. Each moves all partitions to other sources: a source cannot notice that its own replica has rotted."""

    async def read(
        self, sources: list[str], progress: Callable[[], None], most_sn: int = 0
    ) -> tuple[Namespace, Mark] | None:
        """The namespace of the best image that a source offers, up to `most_sn` unless it is 0; the image is then whole on this disk. Raises
        OSError."""
        async with self._files:
            return await self._read_best(sources, progress, most_sn)

    async def _read_best(
        self, sources: list[str], progress: Callable[[], None], most_sn: int
    ) -> tuple[Namespace, Mark] | None:
        await self._local_images.set_refused_aside()
        offers = await self._offers(sources, most_sn)
        self.image = best_offer(offers, self._local_images)
        if not self.image:
            return None
        self._changes(self.image)
        having = rotated([source for source in sources if self.image in offers[source]], self._failures)
        try:
            manifest = await self._manifest(having)
            namespace = await self._partitions(manifest, having, progress)
            await self._local_images.shelve(manifest)
            reported = ImageShelved(self.image, manifest.mark.sn, len(manifest.partitions), manifest.size)
            self._world.trace.emit(reported)
            return namespace, manifest.mark
        except (ImageDamaged, NotFetched) as error:
            self._failures += 1
            self._world.trace.emit(ImageRefused(self.image, str(error)))
            return None
        finally:
            self.image = ""

    async def _offers(self, sources: list[str], most_sn: int) -> dict[str, list[str]]:
        replies = await asyncio.gather(
            *(self._calls.ask(source, m.AskImages(0), ANSWER_NS) for source in sources)
        )
        return {
            source: up_to(reply.images, most_sn) if isinstance(reply, m.ImagesReply) else []
            for source, reply in zip(sources, replies, strict=True)
        }

    async def _manifest(self, sources: list[str]) -> Manifest:
        data = await fetch_piece(self._calls, sources, manifest_file(self.image), 0, MANIFEST_MAX)
        return decode(data, self.image)

    async def _partitions(
        self, manifest: Manifest, sources: list[str], progress: Callable[[], None]
    ) -> Namespace:
        """Fetches all partitions at once, each from another source first. Raises ImageDamaged, NotFetched."""
        loader = self._local_images.loader()
        ends = await asyncio.gather(
            *(
                self._partition(loader, manifest, partition, rotated(sources, partition), progress)
                for partition in range(len(manifest.partitions))
            ),
            return_exceptions=True,
        )
        for end in ends:
            if end is not None:
                raise end
        return loader.finish()

    async def _partition(
        self,
        loader: Loader,
        manifest: Manifest,
        partition: int,
        sources: list[str],
        progress: Callable[[], None],
    ) -> None:
        file, entry = partition_file(manifest.image, partition), manifest.partitions[partition]
        offset = began = await self._good_beginning(file, entry.length)
        await self._local_images.write_anew(file, offset)
        out = self._world.disk.open_append(path_of(file))
        try:
            if out.size > offset:
                await out.truncate(offset)
            checksum = await self._feed_stored(loader, partition, file, offset)
            unsynced = 0
            while offset < entry.length:
                length = min(PIECE_MOST, entry.length - offset)
                data = await fetch_piece(self._calls, sources, file, offset, length)
                out.append(data)
                loader.feed(partition, data)
                checksum = crc32c(data, checksum)
                offset += len(data)
                unsynced += len(data)
                if unsynced >= SYNC_BYTES or offset == entry.length:
                    await out.sync()
                    unsynced = 0
                    self._world.trace.emit(Repairing(file, sources[0], began, offset, entry.length))
                    progress()
        finally:
            out.close()
        if PartitionEntry(offset, checksum) != entry:
            self._local_images.remove(file)
            raise ImageDamaged(f"{file} is not what the manifest says")

    async def _good_beginning(self, file: str, length: int) -> int:
        """Number of good bytes at the beginning of this server's own replica."""
        size = min(self._local_images.size(file), length)
        pieces = (
            self._local_images.piece(file, offset, PACKET_BYTES) for offset in range(0, size, PACKET_BYTES)
        )
        return min(whole_bytes(pieces), size)

    async def _feed_stored(self, loader: Loader, partition: int, file: str, end: int) -> int:
        checksum = 0
        for offset in range(0, end, PACKET_BYTES):
            data = self._local_images.piece(file, offset, min(PACKET_BYTES, end - offset))
            loader.feed(partition, data)
            checksum = crc32c(data, checksum)
            await self._world.clock.sleep(0)
        return checksum


def best_offer(offers: dict[str, list[str]], local_images: LocalImageDirectory) -> str:
    """The newest offered image; one that is partly here goes first. Empty when there is none."""
    offered = {image for images in offers.values() for image in images}
    whole = local_images.images()
    begun = [image for image in local_images.files() if image in offered and image not in whole]
    return max(begun, default=max(offered, default=""))


def up_to(images: list[str], most_sn: int) -> list[str]:
    """The images that reach no further than `most_sn`; all valid names with 0."""
    known = [image for image in images if NAME.match(image)]
    return [image for image in known if not most_sn or rank_of(image)[2] <= most_sn]


def rotated(sources: list[str], by: int) -> list[str]:
    place = by % len(sources)
    return sources[place:] + sources[:place]
