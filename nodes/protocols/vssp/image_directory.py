"""The images on one pool node's disk: a file for each partition, and the manifest, with which they count."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from nodes.config import Knobs
from nodes.metadata.images import ImageDamaged, Loader
from nodes.metadata.namespace import Namespace
from nodes.mutations import Mutations
from nodes.protocols.vssp.manifest import (
    DIRECTORY,
    Manifest,
    decode,
    encode,
    image_of,
    manifest_file,
    partition_file,
    path_of,
    rank_of,
)
from nodes.protocols.vssp.packets import PACKET_BYTES
from nodes.protocols.vssp.retention import kept_images
from nodes.slots import Rank
from nodes.world import Disk

ASIDE = "aside/images"
"""Directory of quarantined images."""
DISCARD_BYTES = 4 << 20
PARTIAL_KEPT = 2
"""Number of unfinished images that stay: their reading may be continued."""


class LocalImageDirectory:
    def __init__(
        self,
        disk: Disk,
        mutations: Mutations,
        knobs: Knobs,
        is_lost: Callable[[Rank], bool],
    ):
        """`is_lost`: whether images of this rank do not count because a forced server lacked what they have."""
        self._disk = disk
        self._is_lost = is_lost
        self.mutations = mutations
        self._knobs = knobs
        self.bar = (0, 0)
        """(incarnation, sn): images of earlier incarnations that go beyond do not count."""
        self.refused: set[str] = set()
        """Images that were found damaged: they do not count, and will be quarantined."""
        self._moving = asyncio.Lock()

    def files(self) -> dict[str, list[str]]:
        """The files of each image, whole or not; the oldest image first."""
        return {
            image: files
            for image, files in self._all_files().items()
            if not (self._is_out(image) or self._is_lost(rank_of(image)))
        }

    def lost(self) -> list[str]:
        """Images that are lost and not yet refused."""
        return [
            image for image in self._all_files() if not self._is_out(image) and self._is_lost(rank_of(image))
        ]

    def _is_out(self, image: str) -> bool:
        return self._barred(image) or image in self.refused

    def _all_files(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for file in self._disk.names(DIRECTORY):
            known = image_of(file)
            if known is not None:
                found.setdefault(known[0], []).append(file)
        return found

    def _barred(self, image: str) -> bool:
        incarnation, _, sn = rank_of(image)
        return incarnation < self.bar[0] and sn > self.bar[1]

    def is_former(self, image: str) -> bool:
        """Whether the image was begun before this server rolled back: its writer has yet to roll back. It may have another past."""
        return rank_of(image)[0] < self.bar[0]

    def images(self) -> list[str]:
        """Images with a manifest, oldest first."""
        return [image for image, files in self.files().items() if manifest_file(image) in files]

    def manifest(self, image: str) -> Manifest:
        """Raises ImageDamaged, OSError."""
        return decode(self._disk.read(path_of(manifest_file(image))), image)

    def loader(self) -> Loader:
        return Loader(self.mutations, self._knobs.open_calls)

    def load(self, manifest: Manifest) -> Namespace:
        """Reads all partitions, one after the other. Raises ImageDamaged, OSError."""
        loader, partitions = self.loader(), manifest.partitions
        if self.mutations.image_without_last_partition:
            partitions = partitions[:-1]
        for partition, entry in enumerate(partitions):
            path = path_of(partition_file(manifest.image, partition))
            for offset in range(0, entry.length, PACKET_BYTES):
                loader.feed(
                    partition, self._disk.read(path, offset, min(PACKET_BYTES, entry.length - offset))
                )
        namespace = loader.finish(checked=partitions is manifest.partitions)
        if loader.header is None or loader.header.partitions != len(manifest.partitions):
            raise ImageDamaged(f"the manifest of image {manifest.image} names another number of partitions")
        return namespace

    def piece(self, file: str, offset: int, length: int) -> bytes:
        """Raises FileNotFoundError, OSError."""
        return self._disk.read(path_of(file), offset, length)

    def size(self, file: str) -> int:
        """Size of a file in bytes; 0 when there is none."""
        try:
            return self._disk.size(path_of(file))
        except FileNotFoundError:
            return 0

    async def write_anew(self, file: str, length: int) -> None:
        """Makes the beginning of a file durable that lies here without a manifest: an earlier attempt may have ended before its sync, or by a failed
        one, after which no later sync writes the old file. Raises OSError."""
        known = image_of(file)
        if not length or (known is not None and known[0] in self.images()):
            return
        data = memoryview(self._disk.read(path_of(file), 0, length))
        out = self._disk.open_append(path_of(file))
        try:
            await out.truncate(0)
            for start in range(0, length, DISCARD_BYTES):
                out.append(bytes(data[start : start + DISCARD_BYTES]))
                await out.sync()
        finally:
            out.close()

    async def shelve(self, manifest: Manifest) -> None:
        """Writes the manifest. From then on the image counts. Raises OSError."""
        await self._disk.replace(path_of(manifest_file(manifest.image)), encode(manifest))

    def remove(self, file: str) -> None:
        try:
            self._disk.remove(path_of(file))
        except FileNotFoundError:
            pass

    def remove_image(self, image: str) -> None:
        """Removes an image, the manifest first, so that files left by a crash do not count."""
        self.remove(manifest_file(image))
        for file in self.files().get(image, []):
            self.remove(file)

    async def _discard(self, file: str) -> None:
        """Removes a long file a piece at a time: the system takes milliseconds for every megabyte."""
        out = self._disk.open_append(path_of(file))
        try:
            for size in range(out.size - DISCARD_BYTES, 0, -DISCARD_BYTES):
                await out.truncate(size)
        finally:
            out.close()
        self.remove(file)

    async def set_aside(self, directory: str, sn: int | None = None) -> None:
        """Quarantines barred images, or with `sn` the images beyond it. All files of an image are copied before any is removed. Raises OSError."""
        for image, files in self._all_files().items():
            leaves = self._barred(image) if sn is None else rank_of(image)[2] > sn
            if leaves and image not in self.refused:
                for file in files:
                    await self._copy(file, f"{directory}/{file}")
                for file in [manifest_file(image), *files]:
                    self.remove(file)

    async def set_refused_aside(self) -> None:
        """Quarantines damaged images, their manifests first, so that a person can examine them. Raises OSError."""
        async with self._moving:
            for image in sorted(self.refused):
                await self._move(image)

    async def _move(self, image: str) -> None:
        for file in [manifest_file(image), *self._all_files().get(image, [])]:
            try:
                await self._disk.move(path_of(file), f"{ASIDE}/{file}")
            except FileNotFoundError:
                continue
        self.refused.discard(image)

    async def _copy(self, file: str, to: str) -> None:
        out = self._disk.open_append(to)
        try:
            await out.truncate(0)
            for offset in range(0, self.size(file), DISCARD_BYTES):
                out.append(self.piece(file, offset, DISCARD_BYTES))
                await out.sync()
        finally:
            out.close()

    async def tidy(self, pinned: set[int], busy: set[str]) -> None:
        """Removes images that are no longer needed, but none of the `busy` ones. Raises OSError."""
        everything, whole = list(self.files()), self.images()
        newest = max(whole, default="")
        partial = [image for image in everything if image not in whole and image > newest]
        stays = kept_images(whole, pinned, self._knobs.images_kept) | set(partial[-PARTIAL_KEPT:]) | busy
        gone = [image for image in everything if image not in stays]
        for image in gone:
            self.remove(manifest_file(image))
            for file in self.files().get(image, []):
                await self._discard(file)
