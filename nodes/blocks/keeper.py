"""A metadata server's side of the data nodes: takes their reports, tells clients where blocks lie, and as the active commands them.

Reports come to every server of the group alike, so that after a failover the new active knows at once (CFS §3.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Protocol

import msgspec

from nodes.blocks.block_map import BlockMap, Verdict, Wanted, excess, judge, targets
from nodes.blocks.credible import wrong_beat, wrong_row
from nodes.config import MILLISECOND, SECOND, DataConfig, GroupConfig
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import BLOCK_SIZE_MAX
from nodes.trace.block_events import BlockHealth, DataNodeLost
from nodes.trace.events import Warned
from nodes.units import home_group
from nodes.wire.data_messages import (
    CHAIN_MAX,
    LOCATED_MAX,
    BeatHeard,
    Changes,
    Choose,
    Chosen,
    FullReport,
    Locate,
    Located,
    Location,
    NodeBeat,
    Remove,
    Replicate,
    Row,
    Void,
    WantReport,
)
from nodes.wire.messages import Message
from nodes.world import World

TICK_NS = 200 * MILLISECOND
IDLE_NS = 1 * SECOND
"""Between ticks of a cluster in which no data node is known."""
LOOKED_AT = 500
"""Blocks judged in one tick."""
SWEPT = 200
"""Blocks that nothing has been heard of, looked at in one tick all the same."""
COPY_NS = 10 * SECOND
"""How long a copy that was commanded counts as good as made."""
ASK_AGAIN_NS = 1 * SECOND
DOUBT_NS = 1 * SECOND
"""How long a block must lack replicas, or have too many, before anything is done: reports are under way."""
Removals = dict[tuple[str, str], list[tuple[int, int, int]]]
"""By data node and reason: (block, stamp, state)."""
COPIES_MAX = 64
"""Copies under way at once."""
REMOVED_MAX = 1_000
"""Blocks in one command."""


class Metadata(Protocol):
    """The replicated state of this server, as far as it is looked at here."""

    @property
    def namespace(self) -> Namespace: ...

    @property
    def commit_sn(self) -> int: ...

    @property
    def applied_sn(self) -> int: ...


class Command(Protocol):
    """Whether this server may command data nodes now."""

    def __call__(self) -> tuple[int, bool]:
        """The epoch in which it does, 0 when it may not; and whether nothing in its namespace is ahead of commit."""


class BlockKeeper:
    """The block map of one server, and what follows from it."""

    def __init__(
        self,
        world: World,
        group: GroupConfig,
        config: DataConfig,
        metadata: Metadata,
        command: Command,
        kept_below: Callable[[], int] = lambda: 0,
        void: Callable[[], Void] = Void,
        behind: Callable[[], bool] = lambda: False,
    ):
        self._world = world
        self._group = group
        self._config = config
        self._metadata = metadata
        self._command = command
        self._kept_below = kept_below
        """Blocks of this group with lower numbers are not removed when they are free: a checkpoint may name them (safety rule 14)."""
        self._void = void
        """What data nodes set aside themselves once they hear of it: no command removes it."""
        self._behind = behind
        """Whether another server may have answered what this namespace does not have yet: replicas may be newer than it."""
        self.map = BlockMap()
        self._began_ns = world.clock.monotonic_ns()
        self._asked: dict[str, int] = {}
        self._warned_ns = -ASK_AGAIN_NS
        self._epoch = 0
        self._unhealthy: dict[int, BlockHealth] = {}
        """What was told last of blocks that are not as they should be."""
        self._doubted: dict[int, int] = {}
        """Blocks that are not as they should be, and since when."""
        self._copies: dict[int, dict[str, int]] = {}
        """Block to the targets of copies under way and when each is given up."""
        self._absent: dict[int, int] = {}
        """Blocks that the namespace does not have, and the sn by which that is committed."""
        self._sweep: Iterator[int] = iter(())

    def table(self) -> dict[type[Message], Callable[[str, Any], None]]:
        """The messages that are meant for this."""
        return {
            NodeBeat: self._on_beat,
            FullReport: self._on_part,
            Changes: self._on_changes,
            Locate: self._on_locate,
            Choose: self._on_choose,
        }

    # --- reports ---------------------------------------------------------------------------------------------------

    def _on_beat(self, peer: str, message: NodeBeat) -> None:
        if not self._believes(peer, wrong_beat(message)):
            return
        self._world.network.know(peer, message.address)
        wanted = self.map.on_beat(peer, message, self._world.clock.monotonic_ns())
        epoch, _ = self._command()
        if epoch:
            self._world.network.send(
                peer, BeatHeard(self._group.number, epoch, self._void(), self._world.network.address)
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

    def _wrong(self, rows: list[Row]) -> str:
        """Of the first row that cannot be true; empty when all can."""
        return next((line for row in rows if (line := wrong_row(self._group.number, row))), "")

    def _believes(self, peer: str, wrong: str) -> bool:
        """A report that cannot be true, or of a stranger, is refused as a whole, in one line a second."""
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
        self._world.network.send(peer, Located(message.call, places, self._addresses(names)))

    def _on_choose(self, peer: str, message: Choose) -> None:
        count = max(0, min(message.count, CHAIN_MAX))
        octets = max(0, min(message.octets, BLOCK_SIZE_MAX))
        names = self._targets(count, message.exclude, octets)
        self._world.network.send(peer, Chosen(message.call, names, self._addresses(names)))

    def _targets(self, count: int, exclude: list[str], octets: int) -> list[str]:
        alive = self.map.alive()
        rank = {node.name: self._world.rng.random() for node in alive}
        return targets(alive, count, exclude, octets, rank)

    def _addresses(self, names: list[str]) -> dict[str, str]:
        return {name: self.map.nodes[name].address for name in names}

    # --- the active ------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Goes on for as long as the server does."""
        self.ask_all()
        while True:
            await self._world.clock.sleep(TICK_NS if self.map.nodes or self._config.nodes else IDLE_NS)
            self._tick()

    def ask_all(self) -> None:
        """Every data node tells anew all that it has; what the namespace made of it before does not count any more."""
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
        for name in died:
            self._world.trace.emit(DataNodeLost(self._group.name, name))
        if now - self._began_ns > silence_ns:
            self._give_up_copies(now)
            self._look(now, quiet)

    def _ask_silent(self) -> None:
        """A data node that has started anew tells only the servers of the first configuration unasked."""
        for name in self._config.nodes:
            node = self.map.nodes.get(name)
            if node is None or not node.alive:
                self._ask(name)

    def _forget_suspects(self) -> None:
        """Whoever becomes active looks at every block by and by."""
        self.map.suspects.clear()
        self._sweep = iter(())

    def _give_up_copies(self, now: int) -> None:
        for block, copies in list(self._copies.items()):
            for target in [target for target, until_ns in copies.items() if until_ns <= now]:
                del copies[target]
                self.map.suspects[block] = None
            if not copies:
                del self._copies[block]

    def _look(self, now: int, quiet: bool) -> None:
        """Judges some blocks and sends what follows; what must wait is looked at again in the next tick."""
        suspects = self.map.suspects
        for block in self._swept():
            suspects[block] = None
        removals: Removals = {}
        for block in list(islice(suspects, LOOKED_AT)):
            del suspects[block]
            if self._judge(block, now, quiet, removals):
                suspects[block] = None
        for (node, reason), blocks in removals.items():
            for start in range(0, len(blocks), REMOVED_MAX):
                command = Remove(self._epoch, blocks[start : start + REMOVED_MAX], reason)
                self._world.network.send(node, command)

    def _swept(self) -> list[int]:
        """The next blocks of the round over all that the namespace or a data node has."""
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
        """Whether the block is to be looked at again soon."""
        wanted, holders = self._wanted(block), self.map.holders(block)
        if wanted is None:
            self._tell_freed(block)
            if not holders:
                self._absent.pop(block, None)
            elif block in self._void() or block < self._kept_below():
                return False
            elif self._is_freed(block, quiet):
                _remove(removals, holders, list(holders), "freed")
            return bool(holders)
        self._absent.pop(block, None)
        if not wanted.length:
            return False
        verdict = judge(wanted, holders)
        if verdict.good:
            _remove(removals, holders, verdict.damaged, "damaged")
            if not self._behind():
                _remove(removals, holders, verdict.stale, "stale")
        health = verdict.health(wanted)
        if health == "whole":
            self._copies.pop(block, None)
        elif now - self._doubted.setdefault(block, now) >= DOUBT_NS and verdict.good:
            _remove(removals, holders, excess(verdict, wanted, self.map.nodes, self._epoch), "excess")
            self._copy(block, wanted, verdict, now)
        self._tell(block, wanted, verdict, now)
        return health != "whole" or bool(verdict.damaged or verdict.stale)

    def _wanted(self, block: int) -> Wanted | None:
        """None for a block that is free; length 0 for one that is being written."""
        tree = self._metadata.namespace.tree
        body, found = tree.bodies.owner(block), tree.bodies.block(block)
        if body is None or found is None:
            return None
        return Wanted(found.stamp, found.length, tree.inodes[body.inode].replication)

    def _is_freed(self, block: int, quiet: bool) -> bool:
        """A block that is absent, and whose absence is committed, comes never back: a deletion that a failover takes
        back must not cost a replica."""
        if home_group(block) != self._group.number:
            return False
        metadata = self._metadata
        sn = self._absent.setdefault(block, metadata.applied_sn + 1)
        return quiet or metadata.commit_sn >= sn

    def _copy(self, block: int, wanted: Wanted, verdict: Verdict, now: int) -> None:
        """Has as many copies made as lack, each from another good replica."""
        copies = self._copies.setdefault(block, {})
        for name in verdict.good:
            copies.pop(name, None)
        lacking = wanted.replication - len(verdict.good) - len(copies)
        room = COPIES_MAX - sum(map(len, self._copies.values()))
        names: list[str] = []
        if lacking > 0 and room > 0:
            barred = [*self.map.holders(block), *copies]
            names = self._targets(min(lacking, room), barred, wanted.length)
        for place, name in enumerate(names):
            copies[name] = now + COPY_NS
            source = verdict.good[(block + place) % len(verdict.good)]
            address = self.map.nodes[name].address
            self._world.network.send(source, Replicate(self._epoch, block, wanted.stamp, name, address))
        if not copies:
            del self._copies[block]

    def _tell(self, block: int, wanted: Wanted, verdict: Verdict, now: int) -> None:
        """Only what has not been as it should be for a while, what changes of it, and that it is again."""
        health = verdict.health(wanted)
        told = self._unhealthy.get(block)
        telling = BlockHealth(
            self._group.name, self._epoch, block, wanted.stamp, wanted.length, health, verdict.good
        )
        if health == "whole":
            self._forget_health(block)
            if told is None:
                return
        elif telling == told or now - self._doubted.get(block, now) < DOUBT_NS:
            return
        else:
            self._unhealthy[block] = telling
        self._world.trace.emit(telling)

    def _tell_freed(self, block: int) -> None:
        """Nobody wants the block any more: whoever was told that it is not well need not wait for it."""
        told = self._forget_health(block)
        if told is not None:
            self._world.trace.emit(msgspec.structs.replace(told, health="freed", holders=[]))

    def _forget_health(self, block: int) -> BlockHealth | None:
        self._doubted.pop(block, None)
        return self._unhealthy.pop(block, None)


def _remove(removals: Removals, holders: dict[str, Row], names: list[str], reason: str) -> None:
    for name in names:
        row = holders[name]
        removals.setdefault((name, reason), []).append((row.block, row.stamp, row.state))
