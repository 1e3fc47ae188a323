"""The virtual shared storage pool as seen by one of its nodes: the mechanisms `vssp` and `hdfs_pipeline` of the slot `image_store`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

from nodes.calls import Calls
from nodes.config import NO_KNOBS, Knobs
from nodes.metadata.images import ImageDamaged, UnknownImageFormat
from nodes.metadata.namespace import Namespace
from nodes.mutations import NO_MUTATIONS, Mutations
from nodes.protocols.vssp import messages as m
from nodes.protocols.vssp.acknowledgement import Acknowledging
from nodes.protocols.vssp.image_directory import ASIDE, LocalImageDirectory
from nodes.protocols.vssp.image_reader import PoolImageReader
from nodes.protocols.vssp.image_server import ImageServer
from nodes.protocols.vssp.lookup import Looking
from nodes.protocols.vssp.manifest import rank_of
from nodes.protocols.vssp.receiver import Receiving
from nodes.protocols.vssp.repair import Repairs, is_whole
from nodes.protocols.vssp.reporter import Reporting
from nodes.protocols.vssp.retention import kept_sn, pinned_sn, with_barriers
from nodes.protocols.vssp.sender import Sending
from nodes.slots import Rank, SeenInImage, StoredFile, StoredImage
from nodes.trace.pool_events import ImageRefused
from nodes.wire.messages import Mark, Message
from nodes.world import World


class PoolImageStore:
    """`ImageStore` of nodes/slots.py."""

    def __init__(
        self,
        acknowledging: Acknowledging,
        world: World,
        partitions: int,
        journals: Callable[[], list[StoredFile]],
        journal_first: Callable[[], int],
        mutations: Mutations = NO_MUTATIONS,
        knobs: Knobs = NO_KNOBS,
    ):
        self._world = world
        self._knobs = knobs
        self._local_images = local_images = LocalImageDirectory(world.disk, mutations, knobs, self._outlived)
        self._calls = calls = Calls(world)
        self.pinned: set[int] = set()
        self.rollbacks: dict[int, int] = {}
        self._reached_sn: Callable[[], int] = lambda: sys.maxsize
        self._is_lost: Callable[[Rank], bool] = lambda rank: False
        self._read: Rank | None = None
        """The image that was read last, until enough later ones have come. This server begins from it, though its present journal, and images here,
        may be those of another forced server."""
        self._newest_before: Rank = (0, 0, 0)
        """The newest image that was here when that one was read."""
        self._tidying = world.scope.child("tidy")
        self._sending = Sending(world, local_images, acknowledging, partitions)
        self._receiving = Receiving(world, local_images, self._tidy, self._comes_otherwise)
        self._looking = Looking(world, local_images)
        self._serving = ImageServer(world, local_images, journal_first)
        files = asyncio.Lock()
        self._reading = PoolImageReader(world, local_images, calls, files, self._before_change)
        self._repairs = Repairs(world, local_images, calls, files, self._sending.writes, self._before_change)
        self._reporting = Reporting(world, local_images, calls, journals, self._busy)
        self.handlers: dict[type[Message], Callable[[str, Any], None]] = {
            m.OpenImage: self._receiving.on_message,
            m.ImagePacket: self._receiving.on_message,
            m.CloseImage: self._receiving.on_message,
            m.ImagePacketAcked: self._on_acked,
            m.PacketNotTaken: self._sending.on_not_taken,
            m.ImageShelved: self._sending.on_shelved,
            m.AskImages: self._serving.on_ask_images,
            m.FetchFile: self._serving.on_fetch,
            m.AskSums: self._serving.on_ask_sums,
            m.AskReport: self._reporting.on_ask,
            m.RecoverFile: self._repairs.on_command,
            m.RemoveFile: self._repairs.on_command,
            m.ImagesReply: calls.on_reply,
            m.FilePiece: calls.on_reply,
            m.SumsReply: calls.on_reply,
            m.FileReport: calls.on_reply,
        }

    def _busy(self) -> set[str]:
        """Images that are arriving, or being written or read here."""
        outgoing = self._sending.outgoing
        here = {self._reading.image, self._looking.image, outgoing.image if outgoing else ""}
        incoming = (image for image, each in self._receiving.incoming.items() if not each.shelved)
        return {*here, *incoming} - {""}

    def _comes_otherwise(self, image: str) -> bool:
        return image in (self._reading.image, self._repairs.image)

    def _before_change(self, image: str) -> None:
        """Prepares a repair or a reading. The image is whole elsewhere, so that no pipeline is delivering it any more."""
        self._receiving.forget(image)
        self._reporting.forget(image)

    def _tidy(self) -> None:
        """Removes images except the newest ones and those that a pin needs, while other procedures run."""
        self.leave_lost()
        images = self._local_images.images()
        self._receiving.forget_below(max(images, default=""))
        if len(self._later(images)) >= self._knobs.images_kept:
            self._read = None
        if not self._tidying.busy:
            began = [image for image in images if rank_of(image) == self._read]
            stay = {*began[-1:]} | self._busy() | self._serving.being_read()
            self._tidying.spawn(self._local_images.tidy(self._goals() | {self._reached_sn()}, stay), "tidy")

    def _later(self, images: list[str]) -> list[Rank]:
        """The images with which this server can do without the one that was read last: its journal has come so far since."""
        if self._read is None:
            return []
        begin_sn, reached_sn = self._read[2], self._reached_sn()
        ranks = [rank_of(image) for image in images]
        return [rank for rank in ranks if rank > self._newest_before and begin_sn < rank[2] <= reached_sn]

    def _goals(self) -> set[int]:
        return with_barriers(
            self._local_images.images(), self.pinned, self.rollbacks, self._knobs.images_kept
        )

    def _on_acked(self, peer: str, message: m.ImagePacketAcked) -> None:
        if self._sending.writes(message.image):
            self._sending.on_acked(peer, message)
        else:
            self._receiving.on_message(peer, message)

    async def run(self) -> None:
        await asyncio.gather(self._receiving.run(), self._repairs.run())

    def newest(self, accepts: Callable[[Mark], bool]) -> tuple[Namespace, Mark] | None:
        for image in reversed(self._local_images.images()):
            try:
                manifest = self._local_images.manifest(image)
                if accepts(manifest.mark):
                    return self._local_images.load(manifest), manifest.mark
            except UnknownImageFormat:
                raise
            except (ImageDamaged, FileNotFoundError) as damaged:
                self._refuse(image, f"{damaged}; it is moved to {ASIDE}")
        return None

    def _refuse(self, image: str, reason: str) -> None:
        self._world.trace.emit(ImageRefused(image, reason))
        self._local_images.refused.add(image)
        self._receiving.forget(image)
        self._reporting.forget(image)
        self._tidying.spawn(self._local_images.set_refused_aside(), "set aside")

    async def look(self, start: int, names: list[str], sn: int) -> SeenInImage:
        return await self._looking.look(start, names, sn)

    def stored(self) -> list[int]:
        return [rank_of(image)[2] for image in self._local_images.images()]

    def kept_sn(self, newest: int, first_sn: int) -> int:
        return kept_sn(self._local_images.images(), self._goals() | {self._reached_sn()}, newest, first_sn)

    def pinned_sn(self, first_sn: int) -> int | None:
        return pinned_sn(self._local_images.images(), self._goals(), first_sn)

    async def has_whole(self, accepts: Callable[[Mark], bool]) -> bool:
        for image in reversed(self._local_images.images()):
            try:
                manifest = self._local_images.manifest(image)
                if accepts(manifest.mark) and await is_whole(self._world, self._local_images, manifest):
                    return True
            except (ImageDamaged, FileNotFoundError):
                continue
        return False

    def bar(self, incarnation: int, sn: int) -> None:
        self._local_images.bar = (incarnation, sn)

    async def set_aside(self, incarnation: int, sn: int, directory: str) -> None:
        # Images that were barred before leave first: an image may have come late, and this rollback may lead beyond it.
        await self._local_images.set_aside(directory)
        self.bar(incarnation, sn)
        await self._local_images.set_aside(directory)

    async def set_aside_beyond(self, sn: int, directory: str) -> None:
        await self._local_images.set_aside(directory, sn)

    def follow(self, reached_sn: Callable[[], int], is_lost: Callable[[Rank], bool]) -> None:
        self._reached_sn, self._is_lost = reached_sn, is_lost
        self.leave_lost()

    def _outlived(self, rank: Rank) -> bool:
        arrives = self._reading.image
        return rank != self._read and not (arrives and rank == rank_of(arrives)) and self._is_lost(rank)

    def leave_lost(self) -> None:
        for image in self._local_images.lost():
            self._refuse(image, f"a person forced a server without what it has; it is moved to {ASIDE}")

    async def write(
        self, namespace: Namespace, mark: Mark, replicas: list[str], dumped: Callable[[], None]
    ) -> list[str]:
        holders = await self._sending.write(namespace, mark, replicas, dumped)
        self._tidy()
        return holders

    async def read(
        self, sources: list[str], progress: Callable[[], None], most_sn: int = 0
    ) -> tuple[Namespace, Mark] | None:
        read = await self._reading.read(sources, progress, most_sn)
        if read is not None:
            mark = read[1]
            self._read = (mark.incarnation, mark.epoch, mark.sn)
            self._newest_before = max(map(rank_of, self._local_images.images()), default=self._read)
        self._tidy()
        return read

    async def survey(self, nodes: list[str], again: bool = False) -> list[StoredImage]:
        return await self._reporting.survey(nodes, again)
