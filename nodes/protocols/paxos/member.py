"""What every server of the group has, whatever its role: log, queue, namespace, view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nodes.config import GroupConfig, ServerConfig
from nodes.metadata.namespace import Namespace
from nodes.metadata.pages import page_of
from nodes.metadata_server.record_clock import RecordClock
from nodes.protocols.paxos.acceptor import Acceptor
from nodes.protocols.paxos.ballot import stored_ballot
from nodes.protocols.paxos.leases import lease_ns
from nodes.protocols.paxos.log import SlotLog, decode_record
from nodes.protocols.paxos.messages import LogRecord
from nodes.protocols.paxos.packing import PACKINGS, Packing
from nodes.protocols.paxos.queue import CoordinationQueue
from nodes.replicas.lease import Term, term_of
from nodes.replicas.log import named_fields
from nodes.replicas.state import ReplicatedState
from nodes.replicas.view import GlobalView
from nodes.storage.identity import Identity
from nodes.storage.journal_file import Journal
from nodes.trace.events import Applied, JournalOpened, StepTaken, Warned
from nodes.trace.ignoring import Ignoring
from nodes.wire.messages import Mark
from nodes.world import World


@dataclass
class Member:
    """One server as it was found on its disk."""

    world: World
    config: ServerConfig
    group: GroupConfig
    view: GlobalView
    log: SlotLog
    queue: CoordinationQueue
    state: ReplicatedState
    acceptor: Acceptor
    packing: Packing
    identity: Identity
    """Of its disk."""
    times: RecordClock = field(init=False)
    """What stamps this server's records, since its process began."""

    def __post_init__(self) -> None:
        self.times = RecordClock(self.world.clock, self.config.cluster.mutations.clock_jump_stamps)

    @property
    def name(self) -> str:
        return self.world.name

    @property
    def last(self) -> Mark:
        """Where its queue ends: the largest goes first in an election."""
        return Mark(0, self.queue.ballot, self.queue.current, 0)

    @property
    def lease_ns(self) -> int:
        """The length of a read lease."""
        return lease_ns(self.config.cluster.timing, self.world.coordination.session_timeout_ns)

    @property
    def read_term(self) -> Term:
        """How its two ends count a read lease."""
        return term_of(self.lease_ns, self.config.cluster.mutations)

    def now_ns(self) -> int:
        """Later than every record here and every answer."""
        return self.times.next_ns(self.state.namespace.newest_ns)

    def step(self, procedure: str, step: str, detail: str, ballot: int) -> None:
        self.world.trace.emit(StepTaken(procedure, step, f"DCFS3, {PAPER[procedure]}", detail, ballot))

    def warn(self, what: str) -> None:
        self.world.trace.emit(Warned(what))

    @cached_property
    def ignoring(self) -> Ignoring:
        return Ignoring(self.world)


PAPER = {"election": "Recovery", "upgrade": "Recovery", "view": "Recovery"}


def open_member(world: World, config: ServerConfig, group: GroupConfig) -> Member:
    """Reads log and promised ballot. Raises Damaged, OSError."""
    holes = config.cluster.holes
    journal = Journal.open(world.disk, "journal", config.cluster.mutations, config.cluster.knobs)
    identity = Identity(world, journal)
    log = SlotLog(world, journal)
    queue = CoordinationQueue(config.cluster.mutations)
    namespace = Namespace(group.number, holes.short_duplicate_memory, mutations=config.cluster.mutations)
    state = ReplicatedState(namespace, 0, lambda sn, epoch, digest: _tell_applied(world, sn, epoch, digest))
    state.forgets = config.cluster.mutations.duplicate_after_second_failover
    packing = PACKINGS[config.cluster.protocol]()
    promised = stored_ballot(world.disk)
    decided: list[LogRecord] = []
    for entry in log.load():
        if isinstance(entry, int):
            decided += queue.recall(entry)
        else:
            promised = max(promised, entry[0])
            queue.accept(*entry)
    log.open_told()
    told = log.told
    world.trace.emit(JournalOpened(1, told.sn, told.epoch, told.crc, journal.cut_octets, 0))
    acceptor = Acceptor(world, log, queue, state, promised, identity, packing.packs, holes.memory_only_accept)
    for record in decided:
        acceptor.execute(record)
    return Member(
        world,
        config,
        group,
        GlobalView(world.coordination, group.name, world.name, holes.stale_view_write),
        log,
        queue,
        state,
        acceptor,
        packing,
        identity,
    )


def _tell_applied(world: World, sn: int, epoch: int, digest: int) -> None:
    world.trace.emit(Applied(sn, epoch, digest))


def answer_questions(member: Member, counters: Callable[[], dict[str, Any] | None]) -> None:
    """`group`: the record of a slot as it lies on this disk; `tree`: a page of the namespace; `counters`: what a primary counts."""
    answer = getattr(member.world, "answer", None)
    if answer is not None:
        answer("group", lambda question: _tell_slot(member, int(question["sn"])))
        answer("tree", lambda question: page_of(member.state.namespace, question))
        answer("counters", lambda question: {"counters": counters()})


def _tell_slot(member: Member, slot: int) -> dict[str, Any]:
    stored = member.log.stored(slot)
    return {"group": None if stored is None else named_fields(decode_record(stored[1]))}
