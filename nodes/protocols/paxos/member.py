"""The parts that every server of the group has in every role: replica, queue, acceptor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nodes.calls import Calls
from nodes.config import GroupConfig, ServerConfig
from nodes.ignored_messages import Ignoring
from nodes.metadata.namespace import Namespace
from nodes.metadata_server.checkpoints.history import JournalHistory
from nodes.metadata_server.checkpoints.incarnation import JournalOrigin
from nodes.metadata_server.checkpoints.ledger import CheckpointLedger
from nodes.metadata_server.checkpoints.pins import Pins
from nodes.metadata_server.forced_service import Forcing
from nodes.metadata_server.replica import GroupReplica, empty_namespace, report_applied
from nodes.protocols.paxos.acceptor import Acceptor
from nodes.protocols.paxos.ballot import stored_ballot
from nodes.protocols.paxos.leases import lease_ns
from nodes.protocols.paxos.log import NOTHING, SlotLog
from nodes.protocols.paxos.messages import LogRecord
from nodes.protocols.paxos.packing import PACKINGS, Packing
from nodes.protocols.paxos.queue import CoordinationQueue
from nodes.replicas.lease import Term, term_of
from nodes.replicas.state import ReplicatedState
from nodes.replicas.view import GlobalView
from nodes.slots import ImageStore, MakeImageStore
from nodes.storage.identity import DiskIdentity
from nodes.storage.journal_file import CorruptJournal, Journal
from nodes.trace.events import JournalOpened, Warned
from nodes.wire.messages import Mark
from nodes.world import World

PAPER = "DCFS3, Recovery"


@dataclass
class PaxosMember:
    """One server as read from its disk. `replica` holds the parts common to all metadata servers; the shorter names serve the Paxos code."""

    replica: GroupReplica[SlotLog]
    queue: CoordinationQueue
    acceptor: Acceptor
    packing: Packing

    def __post_init__(self) -> None:
        replica = self.replica
        self.world: World = replica.world
        self.config: ServerConfig = replica.config
        self.group: GroupConfig = replica.group
        self.view: GlobalView = replica.view
        self.log: SlotLog = replica.log
        self.state: ReplicatedState = replica.state
        self.identity: DiskIdentity = replica.identity
        self.ignoring = Ignoring(replica.world)

    @property
    def name(self) -> str:
        return self.world.name

    @property
    def last(self) -> Mark:
        """The end of its queue. The largest one wins an election."""
        return Mark(0, self.queue.ballot, self.queue.current, 0)

    @property
    def several_groups(self) -> bool:
        """Whether the cluster has more groups than this one."""
        return len(self.config.cluster.groups) > 1

    @property
    def lease_ns(self) -> int:
        """The length of a read lease."""
        return lease_ns(self.config.cluster.timing, self.world.coordination.session_timeout_ns)

    @property
    def read_term(self) -> Term:
        """The term of a read lease, as secondary and primary count it."""
        return term_of(self.lease_ns, self.config.cluster.mutations)

    def now_ns(self) -> int:
        """A time later than that of every record and every answer of this server."""
        return self.replica.times.next_ns(self.state.namespace.newest_ns)

    def step(self, procedure: str, step: str, detail: str, ballot: int) -> None:
        self.replica.step(procedure, step, PAPER, detail, ballot)

    def warn(self, what: str) -> None:
        self.world.trace.emit(Warned(what))

    async def begin_from_image(self, sources: list[str]) -> bool:
        """Replaces the namespace by the newest image of these servers, if that is ahead of it, or behind a rollback that cannot be applied here.

        Raises OSError.
        """
        state = self.state
        read = self.replica.images.newest(lambda mark: mark.sn >= state.stuck_sn) if state.stuck_sn else None
        if read is None:
            read = await self.replica.images.read(sources, lambda: None) if sources else None
        if read is None or read[1].sn < state.stuck_sn:
            return False
        namespace, mark = read
        is_ahead = mark.sn > self.queue.success
        if not (is_ahead or (state.stuck_sn and self.log.holds(mark))):
            return False
        if namespace.incarnation > state.namespace.incarnation:
            self.replica.history.passed_over(mark, namespace.incarnation, self.replica.origin.checkpoint)
        if is_ahead:
            self.acceptor.begin_behind(namespace, mark)
        else:
            self.acceptor.pass_over(namespace, mark)
        return True


def open_member(
    world: World, config: ServerConfig, group: GroupConfig, image_store: MakeImageStore
) -> PaxosMember:
    """Reads image, log and promised ballot. Raises Damaged, UnknownFormat, OSError."""
    cluster, holes, mutations = config.cluster, config.cluster.holes, config.cluster.mutations
    journal = Journal.open(world.disk, "journal", mutations, cluster.knobs)
    identity = DiskIdentity(world, journal)
    log = SlotLog(world, journal)
    log.load()
    replica: GroupReplica[SlotLog]
    images = image_store(
        world, cluster.image_partitions, lambda: replica.journal_report(), lambda: replica.log.base.sn + 1, mutations,
        cluster.knobs,
    )  # fmt: skip
    namespace, image = _stored_namespace(images, log, config, group)
    log.open_behind(image)
    reported = log.last
    world.trace.emit(
        JournalOpened(
            log.base.sn + 1,
            reported.sn,
            reported.epoch,
            reported.crc,
            journal.cut_bytes,
            image.sn,
            identity.id.instance,
        )
    )
    history = JournalHistory(world, group.name, images, log, lambda: empty_namespace(config, group))
    passes_over = image.sn > log.pointer.slot or any(sn <= image.sn for sn in log.incarnation_starts())
    if passes_over and namespace.incarnation:
        # The log may have ended before the recovery that the image includes, or this server was stuck at its record.
        history.passed_over(image, namespace.incarnation, "")
    state = ReplicatedState(
        namespace,
        image.sn,
        lambda sn, epoch, digest: report_applied(world, sn, epoch, digest),
        history.restore,
    )
    state.forgets = mutations.duplicate_after_second_failover
    pins = Pins(images, group.name, lambda: state.namespace.tree.bodies.next_block, holes.checkpoint_unpinned)
    for _, record in log.accepted():
        pins.on_group(record)
    queue, acceptor, packing = _open_acceptor(world, config, log, state, identity, pins.on_group)
    view = GlobalView(world.coordination, group.name, world.name, holes.stale_view_write)
    replica = GroupReplica(
        world, config, group, view, images, log, state, Calls(world), CheckpointLedger(world, [each.name for each in cluster.groups]),
        pins, JournalOrigin(), Forcing(world, mutations.floor_without_way_back), identity, None, history,
    )  # fmt: skip
    return PaxosMember(replica, queue, acceptor, packing)


def _stored_namespace(
    images: ImageStore, log: SlotLog, config: ServerConfig, group: GroupConfig
) -> tuple[Namespace, Mark]:
    """The newest image that the log continues; without one, an empty namespace under a whole log. Raises CorruptJournal for a pruned log.

    The image of another server that was ahead is the last resort, because an image does not store the view.
    """
    whole = not log.pruned and log.leads_from(NOTHING)
    stored = images.newest(lambda mark: mark.sn <= log.pointer.slot and log.leads_from(mark))
    if stored is None and not whole:
        stored = images.newest(log.leads_from)
    if stored is not None:
        return stored
    if not whole:
        reason = "what comes before is in no log here, and no whole image leads on to it"
        raise CorruptJournal("journal", 0, log.pointer.slot, reason)
    return empty_namespace(config, group), NOTHING


def _open_acceptor(
    world: World,
    config: ServerConfig,
    log: SlotLog,
    state: ReplicatedState,
    identity: DiskIdentity,
    on_record: Callable[[LogRecord], None],
) -> tuple[CoordinationQueue, Acceptor, Packing]:
    """Restores the slots accepted after the image and executes those up to the success pointer. Raises SealBroken, OSError."""
    cluster, image_sn = config.cluster, state.commit_sn
    queue = CoordinationQueue(cluster.mutations, cluster.knobs.open_slots)
    queue.begin_behind(image_sn)
    promised = stored_ballot(world.disk)
    for ballot, record in log.accepted():
        if record.sn > image_sn:
            promised = max(promised, ballot)
            queue.accept(ballot, record)
    decided = list(queue.recall(log.pointer.slot))
    view = log.pointer.at.view if log.pointer.slot >= image_sn else []
    packing = PACKINGS[cluster.protocol]()
    acceptor = Acceptor(
        world,
        log,
        queue,
        state,
        promised,
        identity,
        packing.packs,
        cluster.holes.memory_only_accept,
        view,
        on_record,
    )
    for record in decided:
        acceptor.execute(record)
    return queue, acceptor, packing
