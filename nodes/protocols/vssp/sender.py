"""The writer of an image (VSSP §III.D, Fig. 5): partitions are written to its own disk and sent down the pipeline from there, all at once.

Copies of this process make the partitions, if there can be any, and the namespace goes on at once. Else this process makes them, some milliseconds
at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from crc32c import crc32c

from nodes.config import MILLISECOND
from nodes.metadata.namespace import Namespace
from nodes.protocols.vssp import messages as m
from nodes.protocols.vssp.acknowledgement import Acknowledging
from nodes.protocols.vssp.image_directory import LocalImageDirectory
from nodes.protocols.vssp.manifest import (
    Manifest,
    PartitionEntry,
    encode,
    image_name,
    partition_file,
    path_of,
)
from nodes.protocols.vssp.outgoing_image import Outgoing
from nodes.protocols.vssp.packets import sums
from nodes.protocols.vssp.pieces import MadeHere, made_apart
from nodes.trace.events import Warned
from nodes.trace.pool_events import ImageShelved, ImageWritten
from nodes.wire.messages import Mark
from nodes.world import AppendFile, CopyLost, Shares, World, wait_at_most

SLICE = 4
"""Pieces of a partition's stream, some 512 rows each, that are made in one turn."""
SYNC_BYTES = 1 << 20
RESEND_NS = 500 * MILLISECOND
TRIES = 4
"""Attempts without any progress after which the first silent node is left out."""


class Sending:
    """Writes one image at a time."""

    def __init__(
        self, world: World, local_images: LocalImageDirectory, acknowledging: Acknowledging, partitions: int
    ):
        self._world = world
        self._local_images = local_images
        self._acknowledging = acknowledging
        self._partitions = partitions
        self.outgoing: Outgoing | None = None
        self._mark = Mark(0, 0, 0, 0)
        self._idle = 0
        self._moved = asyncio.Event()
        self._lost = False
        """The copies of this process that made the last image were lost, so that the next one is made here: memory may have run out."""

    # --- steps -----------------------------------------------------------------------------------------------------

    def writes(self, image: str) -> bool:
        return self.outgoing is not None and self.outgoing.image == image

    def on_acked(self, peer: str, message: m.ImagePacketAcked) -> None:
        outgoing = self.outgoing
        if outgoing is not None and self.writes(message.image) and message.round == outgoing.round:
            outgoing.on_acked(message.partition, message.offset, message.holders)
            self._pump(message.partition)
            self._moved.set()

    def on_not_taken(self, peer: str, message: m.PacketNotTaken) -> None:
        outgoing = self.outgoing
        if outgoing is None or not self.writes(message.image) or peer not in outgoing.chain[1:]:
            return
        if message.have < 0:
            self._leave_out(peer)
        elif message.round == outgoing.round:
            outgoing.go_back(message.partition, message.have)
            self._pump(message.partition)

    def on_shelved(self, peer: str, message: m.ImageShelved) -> None:
        if self.outgoing is not None and self.writes(message.image):
            self.outgoing.shelved.add(peer)
            self._moved.set()

    # --- pipeline --------------------------------------------------------------------------------------------------

    def _pump(self, partition: int) -> None:
        """Sends the bytes that may be sent, from the writer's own replica."""
        outgoing = self.outgoing
        if outgoing is None or not 0 <= partition < len(outgoing.streams):
            return
        stream = outgoing.streams[partition]
        while length := outgoing.next_length(stream):
            data = self._local_images.piece(partition_file(outgoing.image, partition), stream.sent, length)
            last = stream.ended and stream.sent + length == stream.produced
            packet = m.ImagePacket(
                outgoing.image, outgoing.round, partition, stream.sent, last, sums(data), data
            )
            self._world.network.send(outgoing.chain[1], packet)
            stream.sent += length

    def _open(self, outgoing: Outgoing) -> None:
        if len(outgoing.chain) > 1:
            opened = m.OpenImage(
                outgoing.image, outgoing.round, self._mark, len(outgoing.streams), outgoing.chain,
                self._acknowledging.name,
            )  # fmt: skip
            self._world.network.send(outgoing.chain[1], opened)

    def _leave_out(self, node: str) -> None:
        outgoing = self.outgoing
        assert outgoing is not None
        outgoing.leave_out(node)
        self._send_on()
        self._moved.set()

    def _send_on(self) -> None:
        outgoing = self.outgoing
        assert outgoing is not None
        self._open(outgoing)
        for partition in range(len(outgoing.streams)):
            self._pump(partition)

    # --- procedure -------------------------------------------------------------------------------------------------

    async def write(
        self, namespace: Namespace, mark: Mark, replicas: list[str], dumped: Callable[[], None]
    ) -> list[str]:
        """Writes an image; returns the nodes that have it whole in the end: none if a copy of this process is lost. Raises OSError."""
        began_ns = self._world.clock.monotonic_ns()
        image = image_name(mark, self._world.rng.getrandbits(32))
        chain = [self._world.name, *(node for node in replicas if node != self._world.name)]
        outgoing = self.outgoing = Outgoing(image, chain, self._partitions, self._acknowledging)
        self._mark, self._idle = mark, 0
        try:
            self._open(outgoing)
            manifest = await self._make(namespace, mark, outgoing, dumped)
            await self._local_images.shelve(manifest)
            reported = ImageShelved(image, mark.sn, len(manifest.partitions), manifest.size)
            self._world.trace.emit(reported)
            await self._replicate(outgoing)
            replicated_ms = (self._world.clock.monotonic_ns() - began_ns) // MILLISECOND
            await self._close(outgoing, manifest)
            holders = [node for node in chain if node in outgoing.shelved]
        except CopyLost as lost:
            self._lost = True
            reason = (
                f"the image at sn {mark.sn} is given up: {lost}. The next one is made by this process alone"
            )
            self._world.trace.emit(Warned(reason))
            return []
        finally:
            if self.outgoing is outgoing:
                self.outgoing = None
        took_ms = (self._world.clock.monotonic_ns() - began_ns) // MILLISECOND
        self._world.trace.emit(
            ImageWritten(
                image, mark.sn, len(manifest.partitions), manifest.size, holders, replicated_ms, took_ms
            )
        )
        return holders

    async def _make(
        self, namespace: Namespace, mark: Mark, outgoing: Outgoing, dumped: Callable[[], None]
    ) -> Manifest:
        """Has the partitions made, and written to this disk. Raises CopyLost, OSError."""
        apart = None if self._lost else made_apart(self._world, namespace, self._partitions)
        pieces = apart or MadeHere(namespace, self._partitions)
        try:
            if apart is not None:
                dumped()
            manifest = await self._dump(pieces, mark, outgoing)
        finally:
            pieces.close()
        if apart is None:
            dumped()
        self._lost = False
        return manifest

    async def _dump(self, pieces: Shares, mark: Mark, outgoing: Outgoing) -> Manifest:
        """Writes the partitions to this disk, some milliseconds at a time, while they are already being sent. Raises CopyLost, OSError."""
        files = [self._file(outgoing.image, partition) for partition in range(self._partitions)]
        checksums, unsynced, turns = [0] * self._partitions, [0] * self._partitions, 0
        try:
            while (piece := await pieces.next()) is not None:
                partition, data = piece
                files[partition].append(data)
                checksums[partition] = crc32c(data, checksums[partition])
                unsynced[partition] += len(data)
                outgoing.streams[partition].produced += len(data)
                self._pump(partition)
                if unsynced[partition] >= SYNC_BYTES:
                    await files[partition].sync()
                    unsynced[partition] = 0
                elif not turns % SLICE:
                    await self._world.clock.sleep(0)
                turns += 1
            for partition, file in enumerate(files):
                await file.sync()
                outgoing.streams[partition].ended = True
                self._pump(partition)
        finally:
            for file in files:
                file.close()
        entries = [
            PartitionEntry(stream.produced, checksum)
            for stream, checksum in zip(outgoing.streams, checksums, strict=True)
        ]
        return Manifest(outgoing.image, mark, entries)

    def _file(self, image: str, partition: int) -> AppendFile:
        return self._world.disk.open_append(path_of(partition_file(image, partition)))

    async def _replicate(self, outgoing: Outgoing) -> None:
        """Sends until every packet is successful, or no node is left."""
        while not outgoing.replicated and len(outgoing.chain) > 1:
            await self._advance(outgoing)

    async def _close(self, outgoing: Outgoing, manifest: Manifest) -> None:
        """Sends the manifest to nodes that have everything. Slower nodes are waited for as long as they make progress."""
        data = encode(manifest)
        asked: set[str] = set()
        while not outgoing.shelved.issuperset(outgoing.chain):
            for node in outgoing.chain[1:]:
                if node not in asked and outgoing.has_all(node):
                    asked.add(node)
                    self._world.network.send(node, m.CloseImage(outgoing.image, data))
            if not await self._advance(outgoing):
                asked.clear()

    async def _advance(self, outgoing: Outgoing) -> bool:
        """Waits for progress. False when there was none: then everything is sent again, and the fourth time in a row a node is left out."""
        before = outgoing.progress
        self._moved.clear()
        await wait_at_most(self._world.clock, self._moved, RESEND_NS)
        if outgoing.progress != before:
            self._idle = 0
            return True
        self._idle += 1
        if self._idle < TRIES:
            outgoing.resend()
            self._send_on()
        elif len(outgoing.chain) > 1:
            self._idle = 0
            self._leave_out(outgoing.silent())
        return False
