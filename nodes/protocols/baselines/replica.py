"""What every server of a family with a shared journal has, as it was found on its disk."""

from __future__ import annotations

from dataclasses import dataclass, field

from nodes.config import GroupConfig, ServerConfig
from nodes.metadata.namespace import Namespace
from nodes.protocols.baselines.local import LocalJournal
from nodes.replicas.log import NOTHING, ReplicaLog
from nodes.replicas.record_clock import RecordClock
from nodes.replicas.state import ReplicatedState
from nodes.replicas.view import GlobalView
from nodes.storage.journal_file import Journal
from nodes.trace.events import Applied, JournalOpened
from nodes.wire.messages import Mark
from nodes.world import World


@dataclass
class Replica:
    world: World
    config: ServerConfig
    group: GroupConfig
    view: GlobalView
    log: ReplicaLog
    state: ReplicatedState
    local: LocalJournal
    times: RecordClock = field(init=False)
    """What stamps this server's records, since its process began."""

    def __post_init__(self) -> None:
        self.times = RecordClock(self.world.clock, self.config.cluster.mutations.clock_jump_stamps)

    @property
    def last(self) -> Mark:
        """Where its journal ends."""
        return self.log.last


def open_replica(world: World, config: ServerConfig, group: GroupConfig) -> Replica:
    """Reads the journal and applies what it knows to be committed. Raises Damaged, OSError."""
    holes = config.cluster.holes
    journal = Journal.open(world.disk, "journal", config.cluster.mutations, config.cluster.knobs)
    log = ReplicaLog(journal, NOTHING, holes.sn_without_epoch)
    namespace = Namespace(group.number, holes.short_duplicate_memory, mutations=config.cluster.mutations)
    state = ReplicatedState(namespace, 0, lambda sn, epoch, digest: tell_applied(world, sn, epoch, digest))
    state.forgets = config.cluster.mutations.duplicate_after_second_failover
    commit_sn = 0
    for written in log.load():
        state.prepared(written)
        commit_sn = max(commit_sn, written.commit_sn)
    last = log.last
    world.trace.emit(JournalOpened(1, last.sn, last.epoch, last.crc, journal.cut_octets, 0))
    state.commit(commit_sn)
    view = GlobalView(world.coordination, group.name, world.name, holes.stale_view_write)
    return Replica(world, config, group, view, log, state, LocalJournal(world, log, state))


def tell_applied(world: World, sn: int, epoch: int, digest: int) -> None:
    world.trace.emit(Applied(sn, epoch, digest))
