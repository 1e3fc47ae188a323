"""A data node: it keeps replicas of blocks, serves reads, reports to the metadata servers and obeys the active (CFS §3.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.config import MILLISECOND, SECOND, NodeConfig
from nodes.servers.block_quarantine import SettingAside
from nodes.servers.command_authorizer import CommandAuthorizer
from nodes.servers.replica_copy import Copying
from nodes.servers.reporter import Reporter
from nodes.servers.stages import Stages
from nodes.storage.block_file import BlockDamaged
from nodes.storage.block_store import READ_BYTES, BlockRefused, BlockStore
from nodes.trace.block_events import NodeHolds, ReplicaDamaged, ReplicaRemoved, ReplicasFound
from nodes.trace.events import Warned
from nodes.units import home_group
from nodes.wire.data_messages import (
    DAMAGED,
    FINAL,
    WRITING,
    AskReplica,
    BlockRead,
    HeartbeatAck,
    Packet,
    PacketAcked,
    ReadBlock,
    Removal,
    Remove,
    ReplicaIs,
    ReplicaRow,
    Replicate,
    WantReport,
    WriteBlock,
    WriteOpened,
)
from nodes.wire.messages import AskView, Message, ViewCopy
from nodes.world import World

HOLDS_NS = 1 * SECOND
FOUND_REPORTED = 5_000
"""Largest number of blocks in one `ReplicasFound`."""
SCRUBBED = 16
"""Reads of 64 KiB in one step of the scrubber."""


class DataNode:
    def __init__(self, world: World, config: NodeConfig):
        self._world = world
        self._config = config
        data = config.cluster.data
        self._store = BlockStore.open(world.disk, config.capacity)
        self._reporters = {
            group.number: Reporter(
                world,
                group.number,
                group.members,
                lambda number=group.number: self._rows(number),  # type: ignore[misc]
                self._space,
                data.heartbeat_ms,
                data.silence_ms,
            )
            for group in config.cluster.groups
        }
        self._authorizer = CommandAuthorizer(world, self._reporters, data.silence_ms * MILLISECOND)
        self._stages = Stages(world, world.scope, self._store, self._changed, data.nodes)
        self._copying = Copying(world, self._store)
        names = {group.number: group.name for group in config.cluster.groups}
        self._aside = SettingAside(world, self._store, self._stages, self._changed, names)
        self._views: dict[int, ViewCopy] = {}
        """The copy of each group's view, as part of the pool."""
        self._reported = (-1, -1, -1)
        self._reports = False
        """Whether what was found at the start is durable, and may be reported."""
        self._table: dict[type[Message], Callable[[str, Any], None]] = {
            WriteBlock: self._on_write,
            Packet: self._stages.on_packet,
            WriteOpened: self._on_answer,
            PacketAcked: self._on_answer,
            AskReplica: self._on_ask,
            ReadBlock: self._on_read,
            WantReport: self._on_want,
            HeartbeatAck: self._on_received,
            AskView: self._on_ask_view,
            Replicate: self._on_replicate,
            Remove: self._on_remove,
        }

    def start(self) -> None:
        world = self._world
        self._report_found()
        world.network.receive(self.on_message)
        world.scope.spawn(self._report(), "names")
        world.scope.spawn(self._scrub(), "scrubber")
        world.scope.spawn(self._report_holdings(), "holdings")

    def on_message(self, peer: str, message: Message) -> None:
        handler = self._table.get(type(message))
        if handler is None:
            self._world.trace.emit(
                Warned(f"{peer} sent a {type(message).__name__}, which a data node does not take")
            )
            return
        handler(peer, message)

    # --- pipelines -------------------------------------------------------------------------------------------------

    def _on_write(self, peer: str, message: WriteBlock) -> None:
        """Opens a replica. The writer reports the epoch in which the block was granted; commands of an earlier epoch about the block are void."""
        self._authorizer.granted(message.block, message.epoch)
        refused = self._refusal(message.block)
        if not refused:
            self._stages.on_write(peer, message)
        else:
            answer = WriteOpened(message.block, message.stamp, self._world.name, refused)
            self._world.network.send(peer, answer)

    def _refusal(self, block: int) -> str:
        """Reason why the block may not be written; empty when it may."""
        if home_group(block) not in self._reporters:
            return f"no group of this cluster has a block {block:x}"
        if self._aside.is_void(block):
            return f"block {block:016x} came after the checkpoint to which its group went back"
        return ""

    def _on_answer(self, peer: str, message: WriteOpened | PacketAcked) -> None:
        self._copying.on_answer(peer, message)
        self._stages.on_answer(peer, message)

    def _on_ask(self, peer: str, message: AskReplica) -> None:
        row = self._row(message.block)
        answer = ReplicaIs(message.call, 0, 0, WRITING)
        if row is not None:
            answer = ReplicaIs(message.call, row.stamp, row.length, row.state)
        self._world.network.send(peer, answer)

    # --- reading ---------------------------------------------------------------------------------------------------

    def _on_read(self, peer: str, message: ReadBlock) -> None:
        refused, data, sums = "", b"", b""
        try:
            replica = self._store.replicas.get(message.block)
            if replica is not None and (replica.stamp != message.stamp or not replica.final):
                raise BlockRefused(f"block {message.block:016x} is not whole here with stamp {message.stamp}")
            data, sums = self._read(message.block, message.offset, message.length)
        except (BlockRefused, BlockDamaged, OSError) as error:
            refused = " ".join(str(error).split())
        self._world.network.send(peer, BlockRead(message.call, message.offset, data, sums, refused))

    def _read(self, block: int, offset: int, length: int) -> tuple[bytes, bytes]:
        """Raises BlockRefused, BlockDamaged, OSError."""
        try:
            return self._store.read(block, offset, length)
        except BlockDamaged as damaged:
            self._world.trace.emit(
                ReplicaDamaged(block, self._store.replicas[block].stamp, " ".join(str(damaged).split()))
            )
            self._changed(block)
            raise

    # --- reports ---------------------------------------------------------------------------------------------------

    def _space(self) -> tuple[int, int]:
        """Capacity in bytes, reduced by the reserve and by other users of the disk, and used bytes."""
        used = self._store.used
        return used + self._store.room(), used

    def _row(self, block: int) -> ReplicaRow | None:
        replica = self._store.replicas.get(block)
        if replica is None:
            return None
        state = DAMAGED if replica.damaged else FINAL if replica.final else WRITING
        return ReplicaRow(block, replica.stamp, replica.length, state)

    def _rows(self, group: int) -> list[ReplicaRow]:
        blocks = [block for block in self._store.replicas if home_group(block) == group]
        return [row for block in blocks if (row := self._row(block)) is not None]

    def _changed(self, block: int) -> None:
        reporter = self._reporters.get(home_group(block))
        if reporter is not None:
            reporter.changed(block, self._row(block))

    def _on_want(self, peer: str, message: WantReport) -> None:
        reporter = self._reporters.get(message.group)
        if reporter is not None and self._reports:
            reporter.on_want(peer)

    def _on_received(self, peer: str, message: HeartbeatAck) -> None:
        if self._authorizer.word(peer, message.group, message.epoch):
            addresses = {peer: message.address} if message.address else {}
            self._views[message.group] = ViewCopy(message.epoch, peer, addresses, message.group)
            self._aside.on_received(message.group, message.void)

    def _on_ask_view(self, peer: str, message: AskView) -> None:
        """Sends the copy of the group's view that its active sent last: a hint for clients whose servers have all been replaced (CFS §4.4)."""
        copy = self._views.get(message.group)
        if copy is not None:
            self._world.network.send(peer, copy)

    # --- commands --------------------------------------------------------------------------------------------------

    def _on_replicate(self, peer: str, message: Replicate) -> None:
        if self._authorizer.command(peer, message.block, message.epoch):
            self._copying.take(message)

    def _on_remove(self, peer: str, message: Remove) -> None:
        for block, stamp, state in message.blocks:
            row = self._row(block)
            if row is None or not self._authorizer.command(peer, block, message.epoch):
                continue
            known = self._reporters[home_group(block)].is_as_known(block, message.boot, message.version)
            same = known and (row.stamp, row.state) == (stamp, state) and not self._stages.writing(block)
            if message.removal == "freed" or same:
                self._remove(row, message.removal)

    def _remove(self, row: ReplicaRow, removal: Removal) -> None:
        try:
            self._stages.end(row.block)
            self._store.remove(row.block)
        except OSError as error:
            # The active orders the removal until it succeeds: the failure is reported once.
            if row.state != DAMAGED:
                self._world.trace.emit(Warned(f"block {row.block:016x} is not removed: {error.strerror}"))
                self._changed(row.block)
            return
        self._world.trace.emit(ReplicaRemoved(row.block, row.stamp, removal))
        self._changed(row.block)

    async def _report(self) -> None:
        """Begins to report when what was found at the start is durable."""
        warned = False
        while True:
            try:
                await self._store.keep_found()
                break
            except OSError as error:
                if not warned:
                    line = f"{error}: what was found at the start is reported once the disk can keep it"
                    self._world.trace.emit(Warned(line))
                warned = True
                await self._world.clock.sleep(HOLDS_NS)
        self._reports = True
        for reporter in self._reporters.values():
            self._world.scope.spawn(reporter.run(), "reports")

    # --- rounds ----------------------------------------------------------------------------------------------------

    async def _scrub(self) -> None:
        """Reads every whole replica in turn, so that a rotten one is found before the other replicas rot."""
        pause_ns = self._config.cluster.data.scrub_ms * MILLISECOND
        left = 0
        while True:
            for block in list(self._store.replicas):
                offset = 0
                while self._readable(block) and offset < self._store.replicas[block].length:
                    if not left:
                        await self._world.clock.sleep(pause_ns)
                        left = SCRUBBED
                        continue
                    left -= 1
                    try:
                        self._read(block, offset, READ_BYTES)
                    except (BlockRefused, BlockDamaged, OSError):
                        break
                    offset += READ_BYTES
            await self._world.clock.sleep(pause_ns)

    def _readable(self, block: int) -> bool:
        replica = self._store.replicas.get(block)
        return replica is not None and replica.final and not replica.damaged

    def _report_found(self) -> None:
        replicas, report = self._store.replicas, self._world.trace.emit
        whole = [(block, replicas[block].stamp) for block in replicas if self._readable(block)]
        for start in range(0, max(1, len(whole)), FOUND_REPORTED):
            report(ReplicasFound(whole[start : start + FOUND_REPORTED], start + FOUND_REPORTED < len(whole)))
        for block, replica in replicas.items():
            if replica.damaged:
                report(ReplicaDamaged(block, replica.stamp, "its head or its end is damaged"))

    async def _report_holdings(self) -> None:
        while True:
            damaged = sum(replica.damaged for replica in self._store.replicas.values())
            reported = (len(self._store.replicas), self._store.used, damaged)
            if reported != self._reported:
                self._reported = reported
                self._world.trace.emit(NodeHolds(*reported))
            self._stages.end_idle()
            await self._world.clock.sleep(HOLDS_NS)


def start(world: World, config: NodeConfig) -> None:
    """Starts a data node in this world. Raises UnknownFormat, OSError of the disk's content."""
    DataNode(world, config).start()
