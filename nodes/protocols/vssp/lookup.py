"""Loading on demand (VSSP §III.D): an image's content at one path, from the partitions that have it."""

from __future__ import annotations

import asyncio

from nodes.metadata.images import ImageDamaged, Loader
from nodes.metadata.inode import Inode
from nodes.metadata.partitions import partition_of
from nodes.metadata.tree_reader import attributes
from nodes.protocols.vssp.image_directory import LocalImageDirectory
from nodes.protocols.vssp.manifest import Manifest, partition_file, rank_of
from nodes.protocols.vssp.packets import PACKET_BYTES
from nodes.slots import SeenInImage
from nodes.units import home_group, is_directory
from nodes.world import World

NAMES_REPORTED = 100


class Looking:
    """Looks up one path at a time, because a partition takes as much memory as its part of the namespace."""

    def __init__(self, world: World, local_images: LocalImageDirectory):
        self._world = world
        self._local_images = local_images
        self._turn = asyncio.Lock()
        self.image = ""
        """The image in use, which stays on the disk meanwhile."""

    async def look(self, start: int, names: list[str], sn: int) -> SeenInImage:
        """Raises ImageDamaged, OSError; FileNotFoundError when there is no such image."""
        async with self._turn:
            try:
                self.image = self._image_at(sn)
                return await _look(OnDemand(self._world, self._local_images, self.image), start, names)
            finally:
                self.image = ""

    def _image_at(self, sn: int) -> str:
        images = self._local_images.images()
        fitting = [image for image in images if not sn or rank_of(image)[2] == sn]
        if not fitting:
            known = ", ".join(str(rank_of(image)[2]) for image in images) or "none"
            raise FileNotFoundError(f"no image at sn {sn or 'any'} lies here; there are {known}")
        return fitting[-1]


class OnDemand:
    """A namespace that contains only the partitions loaded on demand."""

    def __init__(self, world: World, local_images: LocalImageDirectory, image: str):
        self._world = world
        self._local_images = local_images
        self.manifest: Manifest = local_images.manifest(image)
        self._loader = Loader()
        self.size = 0

    @property
    def loaded(self) -> list[int]:
        return sorted(self._loader.loaded)

    @property
    def group(self) -> int:
        header = self._loader.header
        assert header is not None, "a partition is loaded before it is asked whose it is"
        return header.group

    async def directory(self, number: int) -> Inode | None:
        """A directory with its names: they lie in one partition (Algorithm 1)."""
        return await self._in(number, [partition_of(number, len(self.manifest.partitions))])

    async def file(self, number: int, directory: int) -> Inode | None:
        """A file. Its inode is in its directory's partition; with several names, in that of any of their directories; with its directory in
        another group, in its own."""
        count = len(self.manifest.partitions)
        likely = [partition_of(directory, count), partition_of(number, count)]
        return await self._in(number, [*likely, *range(count)])

    async def _in(self, number: int, partitions: list[int]) -> Inode | None:
        for partition in partitions:
            if partition not in self._loader.loaded:
                await self._load(partition)
            inode = self._loader.namespace.tree.inodes.get(number)
            if inode is not None:
                return inode
        return None

    async def _load(self, partition: int) -> None:
        file, entry = partition_file(self.manifest.image, partition), self.manifest.partitions[partition]
        for offset in range(0, entry.length, PACKET_BYTES):
            data = self._local_images.piece(file, offset, min(PACKET_BYTES, entry.length - offset))
            self._loader.feed(partition, data)
            await self._world.clock.sleep(0)
        if partition not in self._loader.loaded:
            raise ImageDamaged(f"partition {partition} of image {self.manifest.image} is not whole")
        self.size += entry.length


async def _look(image: OnDemand, start: int, names: list[str]) -> SeenInImage:
    """The object at the names below the inode `start`, as far as this group has them."""
    inode = await (image.directory(start) if is_directory(start) else image.file(start, start))
    left = list(names)
    elsewhere = 0
    while left and inode is not None and inode.entries is not None:
        parent, child = inode.number, inode.entries.get(left[0])
        if child is None:
            inode = None
            break
        left.pop(0)
        if home_group(child) != image.group:
            elsewhere, inode = child, None
            break
        inode = await (image.directory(child) if is_directory(child) else image.file(child, parent))
    if left and not elsewhere:
        inode = None
    manifest = image.manifest
    return SeenInImage(
        sn=manifest.mark.sn,
        partitions=len(manifest.partitions),
        loaded=image.loaded,
        size=image.size,
        of_bytes=manifest.size,
        found=None if inode is None else attributes(inode),
        names=[] if inode is None or not inode.entries else sorted(inode.entries)[:NAMES_REPORTED],
        elsewhere=elsewhere,
        left=left,
    )
