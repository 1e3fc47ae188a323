"""Repair of one replica (VSSP §III.B, §IV.C): good content stays, and transmission resumes at the first bad or missing offset."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from crc32c import crc32c

from nodes.calls import Calls
from nodes.metadata.images import ImageDamaged
from nodes.protocols.vssp import messages as m
from nodes.protocols.vssp.fetcher import NotFetched, fetch_piece, fetch_sums
from nodes.protocols.vssp.image_directory import LocalImageDirectory
from nodes.protocols.vssp.image_server import PIECE_MOST
from nodes.protocols.vssp.manifest import (
    MANIFEST_MAX,
    PARTITION_MAX,
    Manifest,
    PartitionEntry,
    decode,
    image_of,
    manifest_file,
    partition_file,
    path_of,
)
from nodes.protocols.vssp.packets import PACKET_BYTES
from nodes.trace.pool_events import ImageRefused, ImageShelved, Repairing
from nodes.wake import Wake
from nodes.world import World

COMMANDS_MOST = 1024
SYNC_BYTES = 1 << 20


@dataclass(eq=False)
class Repairs:
    """Carries out recover and remove commands, one after the other. Images that this server `writes` are skipped."""

    _world: World
    _local_images: LocalImageDirectory
    _calls: Calls
    _files: asyncio.Lock
    """Lock of the procedures that change files of images that are whole elsewhere: a repair, or the reading of an image."""
    _writes: Callable[[str], bool]
    _changes: Callable[[str], None]
    """Called with an image before its files change on this disk."""
    image: str = field(default="", init=False)
    """The image that is being repaired."""
    _commands: list[m.RecoverFile | m.RemoveFile] = field(default_factory=list, init=False)
    _wanted: Wake = field(default_factory=Wake, init=False)

    def on_command(self, peer: str, command: m.RecoverFile | m.RemoveFile) -> None:
        """A command is dropped when no image has such a file, or when the same command already waits."""
        absurd = isinstance(command, m.RecoverFile) and not 0 < command.size <= PARTITION_MAX
        if image_of(command.file) is None or absurd or command in self._commands:
            return
        if len(self._commands) < COMMANDS_MOST:
            self._commands.append(command)
            self._wanted.set()

    async def run(self) -> None:
        """Carries out commands, without end. Raises OSError of this disk."""
        while True:
            await self._wanted.wait()
            while self._commands:
                async with self._files:
                    await self._carry_out(self._commands[0])
                del self._commands[0]

    async def _carry_out(self, command: m.RecoverFile | m.RemoveFile) -> None:
        known = image_of(command.file)
        assert known is not None
        image, partition = known
        if self._writes(image) or self._became_whole(image, command):
            return
        self._changes(image)
        if isinstance(command, m.RemoveFile):
            self._local_images.remove(command.file)
            return
        self.image = image
        try:
            if partition is None:
                await self._shelve(image, command.source)
            else:
                await self._recover(image, command)
        except (ImageDamaged, NotFetched) as error:
            self._world.trace.emit(ImageRefused(image, str(error)))
        finally:
            self.image = ""

    def _became_whole(self, image: str, command: m.RecoverFile | m.RemoveFile) -> bool:
        """Whether partitions are to be removed that a manifest of this disk names by now. An image that may go loses its manifest first."""
        partial = isinstance(command, m.RemoveFile) and command.file != manifest_file(image)
        return partial and image in self._local_images.images()

    async def _recover(self, image: str, command: m.RecoverFile) -> None:
        """Makes this replica equal to the source's; until then the image does not count. Raises NotFetched, OSError."""
        file, size, sources = command.file, command.size, [command.source]
        theirs = await fetch_sums(self._calls, command.source, file, size)
        offset = began = (
            min(size, await self._first_bad(file, theirs)) if self._local_images.size(file) else 0
        )
        await self._local_images.write_anew(file, offset)
        out = self._world.disk.open_append(path_of(file))
        try:
            if offset == size == out.size:
                return
            self._local_images.remove(manifest_file(image))
            if out.size > offset:
                await out.truncate(offset)
            self._world.trace.emit(Repairing(file, command.source, began, offset, size))
            unsynced = 0
            while offset < size:
                data = await fetch_piece(self._calls, sources, file, offset, min(PIECE_MOST, size - offset))
                out.append(data)
                offset += len(data)
                unsynced += len(data)
                if unsynced >= SYNC_BYTES or offset >= size:
                    await out.sync()
                    unsynced = 0
                    self._world.trace.emit(Repairing(file, command.source, began, offset, size))
        finally:
            out.close()

    async def _first_bad(self, file: str, theirs: list[int]) -> int:
        """The first packet's offset at which this replica differs from the source's."""
        for packet, checksum in enumerate(theirs):
            offset = packet * PACKET_BYTES
            data = self._local_images.piece(file, offset, PACKET_BYTES)
            if crc32c(data) != checksum:
                return offset
            if not packet % 16:
                await self._world.clock.sleep(0)
        return self._local_images.size(file)

    async def _shelve(self, image: str, source: str) -> None:
        """Fetches the manifest, once all partitions that it names are whole here. Raises ImageDamaged, NotFetched, OSError."""
        data = await fetch_piece(self._calls, [source], manifest_file(image), 0, MANIFEST_MAX)
        manifest = decode(data, image)
        if not await is_whole(self._world, self._local_images, manifest):
            raise ImageDamaged(f"the partitions of image {image} are not what its manifest says")
        await self._local_images.shelve(manifest)
        reported = ImageShelved(image, manifest.mark.sn, len(manifest.partitions), manifest.size)
        self._world.trace.emit(reported)


async def is_whole(world: World, local_images: LocalImageDirectory, manifest: Manifest) -> bool:
    """Whether every partition on this disk matches the manifest. Raises OSError."""
    for partition, entry in enumerate(manifest.partitions):
        if await measure(world, local_images, partition_file(manifest.image, partition)) != entry:
            return False
    return True


async def measure(world: World, local_images: LocalImageDirectory, file: str) -> PartitionEntry:
    """Length and checksum of a file on the disk. Raises OSError."""
    size, checksum = local_images.size(file), 0
    for offset in range(0, size, PIECE_MOST):
        checksum = crc32c(local_images.piece(file, offset, PIECE_MOST), checksum)
        await world.clock.sleep(0)
    return PartitionEntry(size, checksum)
