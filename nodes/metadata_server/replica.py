"""A metadata server's state on disk, whatever its family and role: journal, images, namespace, incarnation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from nodes.calls import Calls
from nodes.config import GroupConfig, ServerConfig
from nodes.metadata.namespace import Namespace
from nodes.metadata_server.checkpoints.history import JournalHistory
from nodes.metadata_server.checkpoints.incarnation import JournalOrigin, stored_origin
from nodes.metadata_server.checkpoints.ledger import CheckpointLedger
from nodes.metadata_server.checkpoints.pins import Pins
from nodes.metadata_server.forced_service import Forcing
from nodes.metadata_server.quarantine import FILE as UNFIT_FILE
from nodes.metadata_server.quarantine import Unfit, stored_unfit
from nodes.metadata_server.record_clock import RecordClock
from nodes.replicas.journal_quarantine import set_groups_aside
from nodes.replicas.log import NOTHING, ReplicaLog, base_under, last_in
from nodes.replicas.state import ReplicatedState, Restore
from nodes.replicas.view import GlobalView, ServerPlace
from nodes.slots import GroupLog, ImageStore, MakeImageStore, StoredFile
from nodes.storage.identity import DiskIdentity
from nodes.storage.journal_file import CorruptJournal, Journal
from nodes.storage.sealed_file import SealBroken
from nodes.trace.events import Applied, JournalOpened, StepTaken, Warned
from nodes.trace.pool_events import JournalPruned
from nodes.wire.data_messages import Void
from nodes.wire.messages import Mark
from nodes.world import World

IMAGES_TO_START_FROM = 2
"""Number of newest images behind which the journal is kept. If a bit of the newest has rotted, the server begins from the older (safety rule 18)."""

Log = TypeVar("Log", bound=GroupLog, covariant=True)


@dataclass
class GroupReplica(Generic[Log]):
    """One server's replica of its group, as found on its disk. The log belongs to the agreement: most families have a journal of groups."""

    world: World
    config: ServerConfig
    group: GroupConfig
    view: GlobalView
    images: ImageStore
    log: Log
    state: ReplicatedState
    calls: Calls
    ledger: CheckpointLedger
    pins: Pins
    origin: JournalOrigin
    """The incarnation of the cluster that this server lives in."""
    forcing: Forcing
    identity: DiskIdentity
    unfit: Unfit | None
    """Reason why this server does not count; None when it counts."""
    history: JournalHistory
    void: Void = field(default_factory=Void)
    """Blocks that do not belong to this server's past."""
    times: RecordClock = field(init=False)
    """Clock that stamps this server's records, since its process began."""

    def __post_init__(self) -> None:
        self.times = RecordClock(self.world.clock, self.config.cluster.mutations.clock_jump_stamps)

    @property
    def name(self) -> str:
        return self.world.name

    @property
    def last(self) -> Mark:
        """The end of this server's journal."""
        return self.log.last

    @property
    def min_in_step(self) -> int:
        """Smallest number of members in step. The configuration never becomes smaller (safety rule 19)."""
        return self.config.cluster.floor(len(self.group.members))

    def step(self, procedure: str, step: str, paper: str, detail: str, epoch: int, **typed: Any) -> None:
        """Reports a step. `typed`: fields of the event that programs read."""
        self.world.trace.emit(StepTaken(procedure, step, paper, detail, epoch, **typed))

    def prune(self, sn: int) -> None:
        """Prunes the journal up to sn, except the part that this server or a checkpoint that it can reach needs.

        It needs the groups that its namespace lacks: an image of another server may be ahead of it.
        """
        mutations = self.config.cluster.mutations
        images = 1 if mutations.rotten_image_stops_server else IMAGES_TO_START_FROM
        first_sn = 1 if mutations.never_prunes_again else self.log.base.sn + 1
        kept_sn = self.images.kept_sn(images, first_sn)
        needed_sn = min(kept_sn, self.history.uncopied_sn(), self.state.settled_sn)
        if self.log.prune(min(sn, needed_sn)):
            self.world.trace.emit(JournalPruned(self.log.base.sn + 1))

    def is_in_step(self, place: ServerPlace) -> None:
        """The view calls this server a standby: it has all that was acknowledged, and it counts from now on. Raises OSError."""
        if self.unfit is not None and self.log.last.sn >= place.sn:
            self.world.disk.remove(UNFIT_FILE)
            self.world.trace.emit(Warned(f"{self.name} has been renewed and counts again"))
            self.unfit = None

    @property
    def reaches_barrier(self) -> bool:
        """Whether the journal holds all that the last recovery kept."""
        origin, last = self.origin, self.log.last
        return not origin.incarnation or last.incarnation == origin.incarnation or last == origin.barrier

    def journal_report(self) -> list[StoredFile]:
        """This server's journal for the logical volume. Its last mark stands for all groups before it."""
        first, last = self.log.base.sn + 1, self.log.last
        size = self.log.size
        return [StoredFile("journal", size, size, last.crc, last.incarnation, last.epoch, first, last.sn)]


Replica = GroupReplica[ReplicaLog]
"""Replica of a family whose log is a journal of groups."""
MakeState = Callable[[Namespace, int, Callable[[int, int, int], None], Restore], ReplicatedState]
"""(namespace, sn of its last group, report of an applied group: sn, epoch, digest)."""
Begin = Callable[[ImageStore, Journal, ServerConfig, GroupConfig], tuple[Namespace, Mark]]
"""The namespace from which a server begins, with its mark. Raises CorruptJournal."""


def stored_namespace(
    images: ImageStore, journal: Journal, config: ServerConfig, group: GroupConfig
) -> tuple[Namespace, Mark]:
    """The newest image from which the journal continues, or which reaches further; with a whole journal there may be no image. An image of an
    earlier epoch that the journal does not hold was lost when a person forced a server.

    Raises CorruptJournal when the journal begins later.
    """
    last = last_in(journal)
    stored = images.newest(
        lambda mark: (
            mark.sn + 1 >= journal.first_sn and (mark > last or base_under(journal, mark) is not None)
        )
    )
    if stored is not None:
        return stored
    if journal.first_sn > 1:
        reason = "the journal begins here, and no whole image reaches so far"
        raise CorruptJournal("journal", 0, journal.first_sn, reason)
    return empty_namespace(config, group), NOTHING


def open_replica(
    world: World,
    config: ServerConfig,
    group: GroupConfig,
    image_store: MakeImageStore,
    make_state: MakeState = ReplicatedState,
    begin: Begin = stored_namespace,
) -> Replica:
    """Reads image and journal, and applies the groups known to be committed. Raises Damaged, UnknownFormat, OSError."""
    unfit = stored_unfit(world.disk)
    if unfit is not None and not unfit.moved:
        raise SealBroken(unfit.reason)
    cluster, holes, mutations = config.cluster, config.cluster.holes, config.cluster.mutations
    origin = stored_origin(world.disk)
    journal = Journal.open(world.disk, "journal", mutations, cluster.knobs)
    identity = DiskIdentity(world, journal)
    replica: Replica
    images = image_store(
        world, cluster.image_partitions, lambda: replica.journal_report(), lambda: replica.log.base.sn + 1, mutations,
        cluster.knobs,
    )  # fmt: skip
    images.bar(origin.incarnation, origin.barrier.sn)
    namespace, image = begin(images, journal, config, group)
    base = base_under(journal, image)
    if base is None:
        journal.restart_at(image.sn + 1)
    log = ReplicaLog(journal, image if base is None else base, holes.sn_without_epoch)
    history = JournalHistory(world, group.name, images, log, lambda: empty_namespace(config, group))
    state = make_state(namespace, image.sn, partial(report_applied, world), history.restore)
    state.forgets = mutations.duplicate_after_second_failover
    pins = Pins(images, group.name, lambda: state.namespace.tree.bodies.next_block, holes.checkpoint_unpinned)
    commit_sn = image.sn
    for written in log.load():
        pins.on_group(written)
        if written.sn > image.sn:
            state.prepared(written)
            commit_sn = max(commit_sn, written.commit_sn)
    images.follow(lambda: state.settled_sn, lambda rank: log.outlives(*rank))
    last = log.last
    world.trace.emit(
        JournalOpened(
            log.base.sn + 1, last.sn, last.epoch, last.crc, journal.cut_bytes, image.sn, identity.id.instance
        )
    )
    passes_over = base is None or any(sn <= image.sn for sn in log.incarnation_starts())
    if passes_over and namespace.incarnation > origin.incarnation:
        # The journal may have ended before the recovery that the image includes, or this server was stuck at its record.
        history.passed_over(image, namespace.incarnation, origin.checkpoint)
    if image.sn:
        report_applied(world, image.sn, image.epoch, namespace.digest)
    state.commit(commit_sn)
    view = GlobalView(world.coordination, group.name, world.name, holes.stale_view_write)
    ledger = CheckpointLedger(world, [each.name for each in cluster.groups])
    forcing = Forcing(world, mutations.floor_without_way_back)
    replica = Replica(
        world, config, group, view, images, log, state, Calls(world), ledger, pins, origin, forcing, identity, unfit, history
    )  # fmt: skip
    return replica


def report_applied(world: World, sn: int, epoch: int, digest: int) -> None:
    world.trace.emit(Applied(sn, epoch, digest))


def empty_namespace(config: ServerConfig, group: GroupConfig) -> Namespace:
    cluster, holes = config.cluster, config.cluster.holes
    return Namespace(
        group.number, holes.short_duplicate_memory, holes.dentry_locks_only, cluster.mutations, cluster.knobs.open_calls
    )  # fmt: skip


async def keep_aside(replica: Replica, sn: int) -> None:
    """Quarantines applied groups that are about to be cut: a person forced another server that lacks them, or a hole is open. Raises OSError."""
    directory = f"aside/after-{sn}-of-epoch-{replica.log.last.epoch}"
    if replica.log.last.sn > sn:
        await set_groups_aside(replica.world, replica.log, sn, directory)
    await replica.images.set_aside_beyond(sn, f"{directory}/image")


def rebuild(replica: Replica) -> None:
    """Rebuilds the namespace from image and journal after applied groups were cut."""
    stored = replica.images.newest(replica.log.holds)
    if stored is None and replica.log.base.sn:
        raise CorruptJournal("journal", 0, replica.log.base.sn + 1, "no whole image reaches so far")
    restart_behind(replica, *(stored or (empty_namespace(replica.config, replica.group), NOTHING)))


def restart_behind(replica: Replica, namespace: Namespace, image: Mark) -> None:
    """Begins from an image that the journal holds, and applies the rest of the journal as far as it is known to be committed."""
    state = replica.state
    state.restart(namespace, image.sn)
    for group in replica.log.groups(image.sn + 1):
        state.prepared(group)
    state.commit(min(replica.log.last.sn, max(image.sn, replica.log.known_commit_sn())))
