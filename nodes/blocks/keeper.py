"""A metadata server's side of the data nodes: it takes their reports, answers clients' questions about locations, and commands them as the active.

Every server of the group receives the reports, so that after a failover the new active has them at once (CFS §3.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Protocol

import msgspec

from nodes.blocks.block_map import (
    BlockMap,
    BlockVerdict,
    WantedBlock,
    excess,
    judge,
    judge_kept,
    newest_of,
    not_obeyed,
    targets,
    wanted_of,
)
from nodes.blocks.copy_orders import CopyOrders
from nodes.blocks.credibility import validate_heartbeat, wrong_row
from nodes.blocks.removals import Removals
from nodes.config import MILLISECOND, SECOND, ClusterConfig, GroupConfig
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import BLOCK_SIZE_MAX
from nodes.metadata.tree import REPLICATION
from nodes.trace.block_events import BlockHealth, DataNodeLost
from nodes.trace.events import Warned
from nodes.units import home_group
from nodes.wire.data_messages import (
    CHAIN_MAX,
    LOCATED_MAX,
    Changes,
    Choose,
    Chosen,
    FullReport,
    Heartbeat,
    HeartbeatAck,
    Locate,
    Located,
    Location,
    ReplicaRow,
    Replicate,
    Void,
    WantReport,
)
from nodes.wire.messages import Message
from nodes.world import World

TICK_NS = 200 * MILLISECOND
IDLE_NS = 1 * SECOND
"""Interval between ticks of a cluster without known data nodes."""
LOOKED_AT = 500
"""Number of blocks judged in one tick."""
SWEPT = 200
"""Blocks without any news that are judged in one tick all the same."""
ASK_AGAIN_NS = 1 * SECOND
KEPT_HEARTBEATS = 2
"""Heartbeats within which a data node was heard that keeps its replica when others are removed as excess."""
DOUBT_NS = 1 * SECOND
"""Time for which a block must lack replicas, or have too many, before the active acts: reports may be under way."""


class Metadata(Protocol):
    """The replicated state of this server, as far as the block keeper reads it."""

    @property
    def namespace(self) -> Namespace: ...

    @property
    def settled_sn(self) -> int: ...

    @property
    def answered_sn(self) -> int: ...


class Command(Protocol):
    """Whether this server may command data nodes now."""

    def __call__(self) -> tuple[int, bool]:
        """The epoch in which this server commands, 0 when it may not; and whether its namespace has no change ahead of commit."""


class BlockKeeper:
    """The block map of one server, and the commands that follow from it."""

    def __init__(
        self,
        world: World,
        group: GroupConfig,
        cluster: ClusterConfig,
        metadata: Metadata,
        command: Command,
        kept_below: Callable[[], int],
        void: Callable[[], Void],
        behind: Callable[[], bool],
    ):
        self._world = world
        self._group = group
        self._config = cluster.data
        self._mutations = cluster.mutations
        self._metadata = metadata
        self._command = command
        self._kept_below = kept_below
        """Free blocks of this group with lower numbers are kept and copied: a checkpoint may name them (safety rule 14)."""
        self._void = void
        """Blocks that data nodes quarantine themselves once they learn of the rollback; no command removes them."""
        self._behind = behind
        """Whether another server may have sent answers that this namespace does not reflect yet: replicas may be newer than it."""
        self.map = BlockMap(cluster.mutations.former_lives_believed)
        self._began_ns = world.clock.monotonic_ns()
        self._asked: dict[str, int] = {}
        self._warned_ns = -ASK_AGAIN_NS
        self._epoch = 0
        self._unhealthy: dict[int, BlockHealth] = {}
        """Last reported health of each block that is not whole."""
        self._doubted: dict[int, int] = {}
        """Blocks that are not whole, each with the time since when."""
        self._copies = CopyOrders()
        self._ordered_in = 0
        """The epoch of the orders in `_removing`."""
        self._removing: dict[int, set[str]] = {}
        """Nodes that were ordered to remove an excess replica of a block, and may do so at any time: no other is chosen in their place."""
        self._absent: dict[int, int] = {}
        """Blocks that the namespace does not have, each with the sn by which its absence is committed."""
        self._sweep: Iterator[int] = iter(())

    def table(self) -> dict[type[Message], Callable[[str, Any], None]]:
        """Handlers of the messages from data nodes and clients."""
        return {
            Heartbeat: self._on_beat,
            FullReport: self._on_part,
            Changes: self._on_changes,
            Locate: self._on_locate,
            Choose: self._on_choose,
        }

    # --- reports ---------------------------------------------------------------------------------------------------

    def _on_beat(self, peer: str, message: Heartbeat) -> None:
        if not self._believes(peer, validate_heartbeat(message)):
            return
        self._world.network.know(peer, message.address)
        wanted = self.map.on_beat(peer, message, self._world.clock.monotonic_ns())
        epoch, _ = self._command()
        if epoch:
            self._world.network.send(
                peer, HeartbeatAck(self._group.number, epoch, self._void(), self._world.network.address)
            )
        if wanted:
            self._ask(peer)

    def _ask(self, peer: str) -> None:
        now = self._world.clock.monotonic_ns()
        if now >= self._asked.get(peer, 0):
            self._asked[peer] = now + ASK_AGAIN_NS
            self._world.network.send(peer, WantReport(self._group.number))

    def _on_part(self, peer: str, message: FullReport) -> None:
        if self._believes(peer, self._wrong(message.rows)):
            self.map.on_part(peer, message)

    def _on_changes(self, peer: str, message: Changes) -> None:
        if self._believes(peer, self._wrong(message.rows)) and not self.map.on_changes(peer, message):
            self._ask(peer)

    def _wrong(self, rows: list[ReplicaRow]) -> str:
        """The fault of the first row that cannot be true; empty when all may be."""
        return next((line for row in rows if (line := wrong_row(self._group.number, row))), "")

    def _believes(self, peer: str, wrong: str) -> bool:
        """Refuses a whole report that cannot be true or comes from an unknown peer, with at most one warning a second."""
        if peer not in self._config.nodes:
            wrong = "reports like a data node and is none of this cluster"
        now = self._world.clock.monotonic_ns()
        if wrong and now >= self._warned_ns + ASK_AGAIN_NS:
            self._warned_ns = now
            self._world.trace.emit(Warned(f"{peer} {wrong}: its report is not believed"))
        return not wrong

    # --- questions -------------------------------------------------------------------------------------------------

    def _on_locate(self, peer: str, message: Locate) -> None:
        places = [
            [
                Location(name, row.stamp, row.length, row.state)
                for name, row in self.map.holders(block).items()
            ]
            for block in message.blocks[:LOCATED_MAX]
        ]
        names = [place.node for block in places for place in block]
        self._world.network.send(peer, Located(message.call, places, self.map.addresses(names)))

    def _on_choose(self, peer: str, message: Choose) -> None:
        count = max(0, min(message.count, CHAIN_MAX))
        size = max(0, min(message.size, BLOCK_SIZE_MAX))
        names = self._targets(count, message.exclude, size)
        self._world.network.send(peer, Chosen(message.call, names, self.map.addresses(names)))

    def _targets(self, count: int, exclude: list[str], size: int) -> list[str]:
        alive = self.map.alive()
        rank = {node.name: self._world.rng.random() for node in alive}
        return targets(alive, count, exclude, size, rank)

    # --- the active ------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Judges blocks as long as the server runs."""
        self.ask_all()
        while True:
            await self._world.clock.sleep(TICK_NS if self.map.nodes or self._config.nodes else IDLE_NS)
            self._tick()

    def ask_all(self) -> None:
        """Requests full reports of all data nodes. Earlier conclusions from the namespace are dropped."""
        self._absent.clear()
        for name in dict.fromkeys([*self._config.nodes, *self.map.nodes]):
            self._world.network.send(name, WantReport(self._group.number))

    def _tick(self) -> None:
        now = self._world.clock.monotonic_ns()
        silence_ns = self._config.silence_ms * MILLISECOND
        died = self.map.expire(now, silence_ns)
        self._ask_silent()
        epoch, quiet = self._command()
        if epoch != self._epoch:
            self._epoch = epoch
            self._unhealthy.clear()
            self._doubted.clear()
            self._copies.clear()
            self._absent.clear()
        if not epoch:
            self._forget_suspects()
            return
        if epoch != self._ordered_in:
            # Orders of this epoch are obeyed although the lease was lost meanwhile.
            self._ordered_in = epoch
            self._removing.clear()
        for name in died:
            self._world.trace.emit(DataNodeLost(self._group.name, name))
        if now - self._began_ns > silence_ns:
            self.map.suspects.update(dict.fromkeys(self._copies.give_up(now)))
            self._look(now, quiet)

    def _ask_silent(self) -> None:
        """Requests reports from silent data nodes: a restarted one reports unrequested only to the servers of the first configuration."""
        for name in self._config.nodes:
            node = self.map.nodes.get(name)
            if node is None or not node.alive:
                self._ask(name)

    def _forget_suspects(self) -> None:
        """Drops suspects on a server that does not command. A new active judges every block in turn."""
        self.map.suspects.clear()
        self._sweep = iter(())

    def _look(self, now: int, quiet: bool) -> None:
        """Judges some blocks and sends the commands that follow. A block that must wait is judged again in the next tick."""
        suspects = self.map.suspects
        for block in self._swept():
            suspects[block] = None
        removals = Removals()
        for block in list(islice(suspects, LOOKED_AT)):
            del suspects[block]
            if self._judge(block, now, quiet, removals):
                suspects[block] = None
        for node, command in removals.commands(self._epoch, self.map.nodes):
            self._world.network.send(node, command)

    def _swept(self) -> list[int]:
        """The next blocks of the sweep over all blocks of the namespace and of data nodes."""
        found: list[int] = []
        for block in self._sweep:
            found.append(block)
            if len(found) == SWEPT:
                return found
        bodies = self._metadata.namespace.tree.bodies
        known = bodies.blocks()
        others = dict.fromkeys([*self.map.blocks(), *self._unhealthy])
        self._sweep = iter(known + [block for block in others if bodies.owner(block) is None])
        return found

    def _judge(self, block: int, now: int, quiet: bool, removals: Removals) -> bool:
        """Judges a block. Returns whether it must be judged again soon."""
        wanted, holders = wanted_of(self._metadata.namespace.tree, block), self.map.holders(block)
        if wanted is None:
            self._removing.pop(block, None)
            self._report_freed(block)
            void = block in self._void()
            if not holders:
                self._absent.pop(block, None)
            elif block < self._kept_below() and not void:
                return self._keep(block, now, removals)
            elif not void and self._is_freed(block, quiet):
                removals.add(holders, list(holders), "freed")
            self._forget_health(block)
            return bool(holders) and not void
        self._absent.pop(block, None)
        if not wanted.length:
            return False
        verdict = judge(wanted, holders)
        removals.add_useless(holders, verdict, self._behind())
        health = verdict.health(wanted)
        if health == "whole":
            left = not_obeyed(self._removing.pop(block, set()), holders, self.map.nodes)
            if left:
                self._removing[block] = left
        elif now - self._doubted.setdefault(block, now) >= DOUBT_NS and verdict.good:
            ordered = self._removing.get(block, set())
            not_before_ns = now - KEPT_HEARTBEATS * self._config.heartbeat_ms * MILLISECOND
            names = excess(verdict, wanted, self.map.nodes, self._epoch, ordered, not_before_ns)
            if names:
                if not self._mutations.excess_orders_forgotten:
                    self._removing[block] = ordered.union(names)
                removals.add(holders, names, "excess")
            self._copy(block, wanted, verdict, now)
        self._report(block, wanted, verdict, now)
        return health != "whole" or bool(verdict.damaged or verdict.stale)

    def _keep(self, block: int, now: int, removals: Removals) -> bool:
        """Copies a block that no file has and that a checkpoint may name. How many replicas its file had is not known any more: none is excess.
        Returns whether it must be judged again soon."""
        holders = self.map.holders(block)
        wanted = newest_of(holders, min(REPLICATION, len(self._config.nodes)))
        if wanted is None:
            self._forget_health(block)
            return False
        verdict = judge_kept(wanted, holders)
        removals.add_useless(holders, verdict, self._behind())
        lacks = verdict.health(wanted) == "under"
        if not lacks:
            self._forget_health(block)
        elif now - self._doubted.setdefault(block, now) >= DOUBT_NS:
            self._copy(block, wanted, verdict, now)
        return lacks or bool(verdict.damaged or verdict.stale)

    def _is_freed(self, block: int, quiet: bool) -> bool:
        """Whether the block is freed. A block whose absence is committed never returns; a deletion that a failover undoes must not cost a replica."""
        if home_group(block) != self._group.number:
            return False
        metadata = self._metadata
        sn = self._absent.setdefault(block, metadata.answered_sn + 1)
        return quiet or metadata.settled_sn >= sn

    def _copy(self, block: int, wanted: WantedBlock, verdict: BlockVerdict, now: int) -> None:
        """Orders a copy for each missing replica, each from another good one."""
        names: list[str] = []
        if lacking := self._copies.lacking(block, wanted.replication, verdict.good):
            barred = [*self.map.holders(block), *self._copies.targets(block)]
            names = self._targets(lacking, barred, wanted.length)
        for name in names:
            source = self._copies.begin(block, name, verdict.good, now)
            address = self.map.nodes[name].address
            self._world.network.send(source, Replicate(self._epoch, block, wanted.stamp, name, address))

    def _report(self, block: int, wanted: WantedBlock, verdict: BlockVerdict, now: int) -> None:
        """Reports a block's health only when it has not been whole for a while, when that changes, and when it is whole again."""
        health = verdict.health(wanted)
        reported = self._unhealthy.get(block)
        finding = BlockHealth(
            self._group.name, self._epoch, block, wanted.stamp, wanted.length, health, verdict.good
        )
        if health == "whole":
            self._forget_health(block)
            if reported is None:
                return
        elif finding == reported or now - self._doubted.get(block, now) < DOUBT_NS:
            return
        else:
            self._unhealthy[block] = finding
        self._world.trace.emit(finding)

    def _report_freed(self, block: int) -> None:
        """Reports that the block is freed, so that an earlier report of its bad health is settled."""
        reported = self._unhealthy.pop(block, None)
        if reported is not None:
            self._world.trace.emit(msgspec.structs.replace(reported, health="freed", holders=[]))

    def _forget_health(self, block: int) -> None:
        self._doubted.pop(block, None)
        self._copies.end(block)
        self._unhealthy.pop(block, None)
