"""Locations of replicas, from the reports of data nodes: soft state of every metadata server, never stored, the same on active and standbys.

Pure: each step is given the report and its time, and returns the result. Times are nanoseconds of the server's monotonic clock.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from nodes.config import SECOND
from nodes.metadata.tree import Tree
from nodes.wire.data_messages import DAMAGED, FINAL, WRITING, Changes, FullReport, Heartbeat, ReplicaRow

PARTS_MAX = 1 << 16
RETURN_NS = 5 * SECOND
"""Time after which a life that was taken for a former one counts again. Late messages do not come for so long."""
PAST_MAX = 64
"""Number of a data node's former lives that are remembered."""
LATER_MAX = 1_000
"""Incremental reports kept while a full one is arriving; with more, the full report is requested again."""


class IncomingReport(msgspec.Struct):
    """A full report of which parts are missing."""

    version: int
    parts: dict[int, list[int]]
    """The blocks in each part that has arrived."""
    later: list[Changes]


class DataNodeState(msgspec.Struct):
    name: str
    boot: int = 0
    past: list[int] = []
    """Boots of its former lives, of which messages may still arrive."""
    returns_ns: int = 0
    """Time since when one of these beats while the present life is silent; 0 while none does."""
    version: int = -1
    """Version of the known replicas; -1 before the first full report."""
    reported: int = -1
    """Version of the replicas in its last heartbeat. While it is later than `version`, what is known of them may be over."""
    received_ns: int = 0
    alive: bool = True
    capacity: int = 0
    used: int = 0
    epoch: int = 0
    """The node obeys no command of an earlier epoch."""
    address: str = ""
    replicas: dict[int, ReplicaRow] = {}
    incoming: IncomingReport | None = None

    def has_reported(self, epoch: int) -> bool:
        """Whether the node obeys exactly this epoch, and all that it did before is known."""
        return self.epoch == epoch and self.version >= self.reported


class BlockMap:
    """Replicas by node and by block; those of dead nodes do not count."""

    def __init__(self, former_lives_believed: bool = False) -> None:
        self._former_lives_believed = former_lives_believed
        self.nodes: dict[str, DataNodeState] = {}
        self._holders: dict[int, dict[str, ReplicaRow]] = {}
        self.suspects: dict[int, None] = {}
        """Blocks whose replicas have changed since they were last judged, oldest first."""

    def addresses(self, names: list[str]) -> dict[str, str]:
        return {name: self.nodes[name].address for name in names}

    def holders(self, block: int) -> dict[str, ReplicaRow]:
        """The replicas of a block by node; callers must not change them."""
        return self._holders.get(block, {})

    def blocks(self) -> list[int]:
        """The numbers of all blocks on live nodes."""
        return list(self._holders)

    def alive(self) -> list[DataNodeState]:
        """Live nodes that have sent a full report."""
        return [node for node in self.nodes.values() if node.alive and node.version >= 0]

    # --- reports ---------------------------------------------------------------------------------------------------

    def on_beat(self, name: str, beat: Heartbeat, now_ns: int) -> bool:
        """Whether a full report must be requested. A node that has just started sends it unrequested."""
        node = self.nodes.get(name)
        if node is None:
            node = self.nodes[name] = DataNodeState(name, replicas={}, past=[])
        if beat.boot in node.past and not is_back(node, now_ns) and not self._former_lives_believed:
            return False
        started = node.boot != beat.boot
        if started:
            self._forget(node)
            node.past = [*(boot for boot in node.past if boot != beat.boot), node.boot][-PAST_MAX:]
            node.boot, node.returns_ns = beat.boot, 0
        node.received_ns, node.address = now_ns, beat.address
        node.reported = beat.version if started else max(node.reported, beat.version)
        node.capacity, node.used, node.epoch = beat.capacity, beat.used, max(node.epoch, beat.epoch)
        if not node.alive:
            node.alive = True
            for row in node.replicas.values():
                self._hold(node, row)
        return node.version != beat.version and not started

    def on_part(self, name: str, part: FullReport) -> bool:
        """Takes a part of a full report. With the last missing part, replicas in no part are removed. False when the part is useless."""
        node = self.nodes.get(name)
        if node is None or node.boot != part.boot or not 0 <= part.part < part.parts <= PARTS_MAX:
            return False
        if part.version < node.version:
            return False
        incoming = node.incoming
        if incoming is None or incoming.version != part.version:
            incoming = node.incoming = IncomingReport(part.version, {}, [])
        incoming.parts[part.part] = [row.block for row in part.rows]
        for row in part.rows:
            self._take(node, row)
        if len(incoming.parts) == part.parts:
            self._complete(node, incoming)
        return True

    def _complete(self, node: DataNodeState, incoming: IncomingReport) -> None:
        node.incoming = None
        reported = {block for blocks in incoming.parts.values() for block in blocks}
        for block in [block for block in node.replicas if block not in reported]:
            self._lose(node, block)
        node.version = incoming.version
        for changes in incoming.later:
            self.on_changes(node.name, changes)

    def on_changes(self, name: str, changes: Changes) -> bool:
        """Takes an incremental report; False when an earlier one is missing, and the full report is needed."""
        node = self.nodes.get(name)
        if node is None or node.boot != changes.boot:
            return False
        if node.incoming is not None and len(node.incoming.later) < LATER_MAX:
            node.incoming.later.append(changes)
        if changes.version <= node.version:
            return True
        if node.version != changes.before:
            return node.incoming is not None
        for block in changes.removed:
            self._lose(node, block)
        for row in changes.rows:
            self._take(node, row)
        node.version = changes.version
        return True

    def expire(self, now_ns: int, silence_ns: int) -> list[str]:
        """Nodes that died just now: none has reported for `silence_ns`."""
        died = [n for n in self.nodes.values() if n.alive and now_ns - n.received_ns > silence_ns]
        for node in died:
            node.alive = False
            for block in node.replicas:
                self._unhold(node, block)
        return [node.name for node in died]

    # --- tables ----------------------------------------------------------------------------------------------------

    def _forget(self, node: DataNodeState) -> None:
        for block in list(node.replicas):
            self._lose(node, block)
        node.version, node.incoming, node.epoch = -1, None, 0

    def _take(self, node: DataNodeState, row: ReplicaRow) -> None:
        if node.replicas.get(row.block) != row:
            node.replicas[row.block] = row
            if node.alive:
                self._hold(node, row)

    def _lose(self, node: DataNodeState, block: int) -> None:
        if node.replicas.pop(block, None) is not None and node.alive:
            self._unhold(node, block)

    def _hold(self, node: DataNodeState, row: ReplicaRow) -> None:
        self._holders.setdefault(row.block, {})[node.name] = row
        self.suspects[row.block] = None

    def _unhold(self, node: DataNodeState, block: int) -> None:
        holders = self._holders[block]
        del holders[node.name]
        if not holders:
            del self._holders[block]
        self.suspects[block] = None


class WantedBlock(msgspec.Struct, frozen=True):
    """A finished block as the namespace has it."""

    stamp: int
    length: int
    replication: int


class BlockVerdict(msgspec.Struct, frozen=True):
    """The classification of a finished block's replicas. Names are in alphabetical order."""

    good: list[str]
    stale: list[str]
    """Replicas with another stamp or length, or never finished."""
    damaged: list[str]

    def health(self, wanted: WantedBlock) -> str:
        """One of whole, under, over, missing."""
        if not self.good:
            return "missing"
        many = len(self.good) - wanted.replication
        return "whole" if not many else "over" if many > 0 else "under"


def is_back(node: DataNodeState, now_ns: int) -> bool:
    """Whether a life that was taken for a former one is the present one: a late message of another life was heard after it. It beats on, and the
    other one is silent."""
    if node.alive:
        node.returns_ns = 0
        return False
    node.returns_ns = node.returns_ns or now_ns
    return now_ns - node.returns_ns >= RETURN_NS


def wanted_of(tree: Tree, block: int) -> WantedBlock | None:
    """The block as the namespace has it: None when it is free; length 0 while it is being written."""
    body, found = tree.bodies.owner(block), tree.bodies.block(block)
    if body is None or found is None:
        return None
    return WantedBlock(found.stamp, found.length, tree.inodes[body.inode].replication)


def judge(wanted: WantedBlock, holders: dict[str, ReplicaRow]) -> BlockVerdict:
    """Classifies the replicas. Only a whole replica with exactly this stamp and length is good."""
    verdict = BlockVerdict([], [], [])
    for name in sorted(holders):
        row = holders[name]
        if row.state == DAMAGED:
            verdict.damaged.append(name)
        elif row.state == FINAL and (row.stamp, row.length) == (wanted.stamp, wanted.length):
            verdict.good.append(name)
        else:
            verdict.stale.append(name)
    return verdict


def newest_of(holders: dict[str, ReplicaRow], replication: int) -> WantedBlock | None:
    """The block as its newest whole replicas have it; None without any. No finished block is given a later stamp."""
    whole = [(row.stamp, row.length) for row in holders.values() if row.state == FINAL and row.length]
    if not whole:
        return None
    stamp, length = max(whole)
    return WantedBlock(stamp, length, replication)


def judge_kept(wanted: WantedBlock, holders: dict[str, ReplicaRow]) -> BlockVerdict:
    """Classifies the replicas of a block that only a checkpoint may name. Stale are only those that a writer left half written, not later than the
    whole one: it has all that was acknowledged under earlier stamps. A whole replica of another stamp may be the one that the checkpoint
    names. Half written and damaged ones with a later stamp stay too."""
    verdict = judge(wanted, holders)
    earlier = {name for name, row in holders.items() if row.stamp <= wanted.stamp}
    stale = [name for name in verdict.stale if name in earlier and holders[name].state == WRITING]
    damaged = [name for name in verdict.damaged if name in earlier]
    return BlockVerdict(verdict.good, stale, damaged)


def excess(
    verdict: BlockVerdict,
    wanted: WantedBlock,
    nodes: dict[str, DataNodeState],
    epoch: int,
    ordered: Collection[str],
    not_before_ns: int,
) -> list[str]:
    """Nodes whose good replicas are excess: those that were `ordered` to remove theirs, then the fullest. None before every holder obeys exactly this
    epoch and has reported all until then, because an earlier active may have ordered the removal of some already; nor while one that would keep
    its replica is silent, because its disk may have been replaced."""
    many = len(verdict.good) - wanted.replication
    if many <= 0 or any(not nodes[name].has_reported(epoch) for name in verdict.good):
        return []
    names = sorted(verdict.good, key=lambda name: (name not in ordered, -nodes[name].used, name))
    if any(nodes[name].received_ns < not_before_ns for name in names[many:]):
        return []
    return names[:many]


def not_obeyed(ordered: set[str], holders: Collection[str], nodes: dict[str, DataNodeState]) -> set[str]:
    """Those of the nodes that may still remove their replica: they have it, or are silent."""
    return {name for name in ordered if name in holders or not nodes[name].alive}


def targets(
    nodes: Iterable[DataNodeState], count: int, exclude: Iterable[str], size: int, rank: dict[str, float]
) -> list[str]:
    """At most `count` nodes with room for a block; `rank` draws among them."""
    barred = set(exclude)
    fit = [n for n in nodes if n.name not in barred and n.capacity - n.used >= size]
    return [node.name for node in sorted(fit, key=lambda node: (rank[node.name], node.name))[:count]]
