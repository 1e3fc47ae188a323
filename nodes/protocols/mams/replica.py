"""What every metadata server of a group has, whatever its role: journal, namespace, view, peers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nodes.config import GroupConfig, ServerConfig
from nodes.metadata.namespace import Namespace
from nodes.protocols.mams.calls import Calls
from nodes.protocols.mams.images import ImageStore
from nodes.protocols.mams.log import ReplicaLog
from nodes.protocols.mams.pool_node import EPOCH_FILE, PoolNode
from nodes.protocols.mams.state import ReplicatedState
from nodes.protocols.mams.view import GlobalView
from nodes.slots import CrossGroup, GroupHost
from nodes.storage.journal_file import Journal
from nodes.trace.events import Applied, JournalOpened, StepTaken
from nodes.world import World


@dataclass
class Replica:
    """One server's replica of its group, as it was found on its disk."""

    world: World
    config: ServerConfig
    group: GroupConfig
    view: GlobalView
    images: ImageStore
    log: ReplicaLog
    state: ReplicatedState
    pool: PoolNode
    calls: Calls
    cross_group: Callable[[GroupHost], CrossGroup]

    @property
    def name(self) -> str:
        return self.world.name

    @property
    def min_in_step(self) -> int:
        """The configuration never becomes smaller (safety rule 19)."""
        return self.config.cluster.min_in_step or (len(self.group.members) + 1) // 2

    def step(self, procedure: str, step: str, paper: str, detail: str, epoch: int) -> None:
        self.world.trace.emit(StepTaken(procedure, step, paper, detail, epoch))


def open_replica(
    world: World, config: ServerConfig, group: GroupConfig, cross_group: Callable[[GroupHost], CrossGroup]
) -> Replica:
    """Reads image, journal and promised epoch. Raises JournalCorrupt, ImageDamaged, OSError."""
    holes = config.cluster.holes
    images = ImageStore(world)
    namespace, base = images.newest(lambda: empty_namespace(config, group))
    journal = Journal.open(world.disk, "journal")
    if journal.last_sn < base.sn:
        journal.restart_at(base.sn + 1)
    log = ReplicaLog(journal, base, holes.sn_without_epoch)
    state = ReplicatedState(
        namespace, base.sn, lambda sn, epoch, digest: tell_applied(world, sn, epoch, digest)
    )
    commit_sn = base.sn
    for written in log.load():
        state.prepared(written)
        commit_sn = max(commit_sn, written.commit_sn)
    last = log.last
    world.trace.emit(
        JournalOpened(log.base.sn + 1, last.sn, last.epoch, last.crc, journal.cut_octets, base.sn)
    )
    state.commit(commit_sn)
    promised = max(last.epoch, stored_epoch(world))
    calls = Calls(world)
    view = GlobalView(world.coordination, group.name, world.name, holes.stale_view_write)
    replica: Replica
    pool = PoolNode(world, log, state, promised, holes, lambda: rebuild(replica))
    replica = Replica(world, config, group, view, images, log, state, pool, calls, cross_group)
    return replica


def tell_applied(world: World, sn: int, epoch: int, digest: int) -> None:
    world.trace.emit(Applied(sn, epoch, digest))


def empty_namespace(config: ServerConfig, group: GroupConfig) -> Namespace:
    return Namespace(group=group.number, short_memory=config.cluster.holes.short_duplicate_memory)


def stored_epoch(world: World) -> int:
    try:
        return int(world.disk.read(EPOCH_FILE))
    except FileNotFoundError:
        return 0


def rebuild(replica: Replica) -> None:
    """Makes the namespace anew from image and journal after applied groups were cut (only an open hole does that)."""
    namespace, base = replica.images.newest(lambda: empty_namespace(replica.config, replica.group))
    state = replica.state
    state.restart(namespace, base.sn)
    for group in replica.log.groups(base.sn + 1):
        state.prepared(group)
    state.commit(min(replica.log.last.sn, max(base.sn, replica.log.known_commit_sn())))
