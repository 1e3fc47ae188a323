"""Reports of pool nodes, and the commands of the node that requested them (VSSP §III.B)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from nodes.calls import Calls
from nodes.config import SECOND
from nodes.metadata.images import ImageDamaged, whole_bytes
from nodes.protocols.vssp import messages as m
from nodes.protocols.vssp.image_directory import LocalImageDirectory
from nodes.protocols.vssp.manifest import (
    DIRECTORY,
    PartitionEntry,
    image_of,
    manifest_file,
    partition_file,
    rank_of,
)
from nodes.protocols.vssp.packets import PACKET_BYTES
from nodes.protocols.vssp.repair import measure
from nodes.protocols.vssp.volume import (
    BadReport,
    Finding,
    RecoverReplica,
    RemoveReplica,
    Volume,
    check_report,
    compare,
    merge,
)
from nodes.slots import StoredFile, StoredImage
from nodes.trace.pool_events import HELD_MOST, HeldFile, PoolReported, ReplicasDisagree, ReportRefused
from nodes.world import World

REPORT_NS = 30 * SECOND
"""Timeout of a report: a node may have to read gigabytes to check them."""
ASK_AGAIN_NS = 2 * SECOND


@dataclass(eq=False)
class Reporting:
    """This node's own report, and the survey of all nodes' reports."""

    _world: World
    _local_images: LocalImageDirectory
    _calls: Calls
    _journals: Callable[[], list[StoredFile]]
    _busy: Callable[[], set[str]]
    _checked: dict[str, tuple[int, StoredFile]] = field(default_factory=dict, init=False)
    """Result of the check of each file, with the size that was checked: each is read once in a process's life."""
    _asked: list[tuple[str, int]] = field(default_factory=list, init=False)
    _answering: bool = field(default=False, init=False)

    # --- own report ------------------------------------------------------------------------------------------------

    def on_ask(self, peer: str, message: m.AskReport) -> None:
        if message.again:
            self._checked.clear()
        self._asked.append((peer, message.call))
        if not self._answering:
            self._answering = True
            self._world.scope.spawn(self._answer(), "report")

    async def _answer(self) -> None:
        try:
            while self._asked:
                asked, self._asked = self._asked, []
                files = await self.report()
                for peer, call in asked:
                    report = m.FileReport(call, self._world.disk.capacity(), files)
                    self._world.network.send(peer, report)
        finally:
            self._answering = False

    async def report(self) -> list[StoredFile]:
        """Journals and images on this disk; a file that is removed meanwhile is left out. Raises OSError."""
        found = self._journals()
        for image, files in self._local_images.files().items():
            if image in self._busy():
                continue
            entries = self._entries(image) if manifest_file(image) in files else {}
            for file in files:
                size, known = self._local_images.size(file), self._checked.get(file)
                if known is None or known[0] != size:
                    try:
                        known = size, await self._check(file, entries.get(file))
                    except FileNotFoundError:
                        continue
                    self._checked[file] = known
                found.append(known[1])
        return found

    def _entries(self, image: str) -> dict[str, PartitionEntry]:
        try:
            manifest = self._local_images.manifest(image)
        except (ImageDamaged, FileNotFoundError):
            return {}
        entries = {partition_file(image, p): entry for p, entry in enumerate(manifest.partitions)}
        return entries | {
            manifest_file(image): PartitionEntry(self._local_images.size(manifest_file(image)), 0)
        }

    async def _check(self, file: str, entry: PartitionEntry | None) -> StoredFile:
        """Reads a file. A partition is valid when it matches the manifest; without one, its whole chunks are valid."""
        measured = await measure(self._world, self._local_images, file)
        valid = measured.length
        manifest = file.endswith(".manifest")
        if entry is None or (not manifest and measured != entry):
            valid = 0 if manifest else self._good_beginning(file, measured.length)
        incarnation, epoch, sn = rank_of(file.rpartition(".")[0])
        name = f"{DIRECTORY}/{file}"
        return StoredFile(name, measured.length, valid, measured.checksum, incarnation, epoch, 0, sn)

    def _good_beginning(self, file: str, size: int) -> int:
        pieces = (
            self._local_images.piece(file, offset, PACKET_BYTES) for offset in range(0, size, PACKET_BYTES)
        )
        return min(whole_bytes(pieces), max(0, size - 1))

    def forget(self, image: str) -> None:
        """Forgets the checks of an image that is about to change on this disk."""
        for file in [file for file in self._checked if image_of(file) and file.startswith(image)]:
            del self._checked[file]

    # --- survey ----------------------------------------------------------------------------------------------------

    async def survey(self, nodes: list[str], again: bool = False) -> list[StoredImage]:
        """Requests reports of every node, this one included, compares them and sends commands; returns the images that are whole somewhere,
        newest last."""
        replies = await asyncio.gather(*(self._ask(node, again) for node in nodes))
        reports = {node: files for node, files in zip(nodes, replies, strict=True) if files is not None}
        volume = merge(reports)
        images = {image: holders for image, holders in volume.images().items() if holders}
        for finding in compare(volume, [max(images)] if images else []):
            self._order(volume, finding)
        return [StoredImage(rank_of(image)[2], holders) for image, holders in images.items()]

    async def _ask(self, node: str, again: bool) -> list[StoredFile] | None:
        if node == self._world.name:
            if again:
                self._checked.clear()
            files = await self.report()
        else:
            reply = await self._reply_of(node, again)
            if reply is None:
                return None
            try:
                check_report(reply.files, reply.disk_bytes)
            except BadReport as bad:
                self._world.trace.emit(ReportRefused(node, str(bad)))
                return None
            files = reply.files
        size = sum(file.size for file in files)
        self._world.trace.emit(PoolReported(node, len(files), size, held(files)))
        return files

    async def _reply_of(self, node: str, again: bool) -> m.FileReport | None:
        """Requests a report until it arrives or REPORT_NS are over. A node that has just started may have missed the request; one that is
        reading continues."""
        clock = self._world.clock
        deadline_ns = clock.monotonic_ns() + REPORT_NS
        while clock.monotonic_ns() < deadline_ns:
            reply = await self._calls.ask(node, m.AskReport(0, again), ASK_AGAIN_NS)
            if isinstance(reply, m.FileReport):
                return reply
            again = False
        return None

    def _order(self, volume: Volume, finding: Finding) -> None:
        """Orders repairs of images only. Journals are repaired group by group by their own protocol."""
        remedy = {RecoverReplica: "recover", RemoveReplica: "remove"}.get(type(finding), "")
        behind_by = finding.behind_by if isinstance(finding, RecoverReplica) else 0
        self._world.trace.emit(
            ReplicasDisagree(finding.file, finding.node, remedy, finding.reason, behind_by)
        )
        file = finding.file.removeprefix(f"{DIRECTORY}/")
        if image_of(file) is None:
            return
        if isinstance(finding, RecoverReplica):
            size = volume.replicas(finding.file)[finding.source].size
            command: m.RecoverFile | m.RemoveFile = m.RecoverFile(file, finding.source, finding.offset, size)
        elif isinstance(finding, RemoveReplica):
            command = m.RemoveFile(file)
        else:
            return
        self._world.network.send(finding.node, command)


def held(files: list[StoredFile]) -> list[HeldFile]:
    """The part of a report that events list: the journals and the newest images."""
    journals = [file for file in files if image_of(file.name.removeprefix(f"{DIRECTORY}/")) is None]
    images = sorted((file for file in files if file not in journals), key=lambda file: file.name)
    kept = [*journals, *images[-HELD_MOST:]][:HELD_MOST]
    return [
        HeldFile(each.name, each.size, each.valid, each.checksum, each.epoch, each.first_sn, each.last_sn)
        for each in sorted(kept, key=lambda file: file.name)
    ]
