"""The primary gives writes their slots and finds out when they are decided and when everybody has them (DCFS3; safety rules 8, 9, 15).

A slot is decided when a majority of the configured group and every member of the view have accepted it: only then may anybody execute it, so that a
read anywhere waits behind it or shows it. A write is answered when every member of the view has executed it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from nodes.metadata.records import Record
from nodes.metadata_server.shared_steps import Commits
from nodes.protocols.paxos.acceptor import Acceptor
from nodes.protocols.paxos.followers import Follower
from nodes.protocols.paxos.log import encode_record
from nodes.protocols.paxos.messages import Accepted, LogRecord
from nodes.protocols.paxos.packing import Packing
from nodes.replicas.state import ReplicatedState
from nodes.trace.ignoring import Ignoring
from nodes.trace.present import UNKNOWN
from nodes.wire.messages import Mark
from nodes.world import World

OPEN_MAX = 2_048
"""Slots that may be open at once; further writes wait."""

Step = Callable[[], None]


class Proposer:
    """One ballot's slots, followers and view. `view` always holds the primary itself. `RecordWriter` of nodes/slots.py, with one record a slot."""

    parked = False
    """Reads wait like writes while too few are there to decide anything."""
    parked_at_ns = 0

    def __init__(
        self,
        world: World,
        commits: Commits,
        configured: list[str],
        ballot: int,
        acceptor: Acceptor,
        state: ReplicatedState,
        packing: Packing,
        shrinks: bool,
        mark: Mark,
        made: int,
    ):
        self._world = world
        self._ignoring = Ignoring(world)
        self._commits = commits
        self._configured = configured
        self.ballot = self.epoch = ballot
        self._acceptor = acceptor
        self._state = state
        self._packing = packing
        self._shrinks = shrinks
        """Safety rule 8's hole: whoever is in the view decides alone."""
        self._mark = mark
        self._made = made
        """Records of this ballot."""
        self.followers: dict[str, Follower] = {}
        self.view: list[str] = []
        """Whom every decision and answer waits for."""
        self.recorded: list[str] = []
        """The last view that is decided: its members may be given leases."""
        self.changing: tuple[int, list[str]] | None = None
        """The slot of a change of the view that is under way."""
        self._changes = 0
        self._own = acceptor.queue.success
        self.decided = acceptor.queue.success
        self.executed = acceptor.queue.success
        """Every member of the view has executed everything up to here."""
        self._advanced_ns = world.clock.monotonic_ns()
        """When something was decided last, or proposed while all was."""
        self._last_place = 0
        self._began: deque[tuple[int, int]] = deque()
        """Slots of this tenure that are not decided, and when they were proposed."""
        self.flushes = 0
        self.flushing_ns = 0
        self._on_decided: deque[tuple[int, Step]] = deque()
        self._on_executed: deque[tuple[int, Step]] = deque()
        self._packs_soon = False
        self._begun_by = UNKNOWN
        """What led to the first record that has not been packed."""
        self._over = False
        self.on_recorded: Step = lambda: None
        self.on_unparked: Step = lambda: None
        """There is room for writes again."""

    # --- intake ----------------------------------------------------------------------------------------------------

    @property
    def last(self) -> int:
        return self._mark.sn

    @property
    def open_sn(self) -> int:
        return self.last

    @property
    def open_place(self) -> int:
        return self._last_place

    @property
    def next_place(self) -> tuple[int, int]:
        return self.last + 1, 1

    @property
    def idle(self) -> bool:
        """Nothing is ahead of what is decided."""
        return self.decided == self.last

    @property
    def full(self) -> bool:
        return self.last - self.executed >= OPEN_MAX

    def apply(self, record: Record) -> tuple[int, int]:
        """Executes a record and gives it the next slot; returns that, and the record's place in it."""
        undo: list[Any] = []
        self._state.namespace.apply(record, undo)
        self._propose([record], undo, record.at_ns, [])
        return self.last, 1

    def close_group(self) -> None:
        """Each record has a slot of its own."""

    def change_view(self, view: list[str], at_ns: int) -> None:
        """Who is new is waited for at once; who leaves is waited for until a majority has recorded it."""
        self.view += [name for name in view if name not in self.view]
        self.changing = (self.last + 1, list(view))
        self._propose([], [], at_ns, list(view))

    def _propose(self, records: list[Record], undo: list[Any], at_ns: int, view: list[str]) -> None:
        now = self._world.clock.monotonic_ns()
        if self.idle:
            self._advanced_ns = now
        self._began.append((self.last + 1, now))
        self._made += 1
        record = LogRecord(
            self.last + 1, self._made, self.ballot, 0, self._mark, self.decided, at_ns, records, view
        )
        octets, self._mark = encode_record(record)
        self._last_place = len(records)
        self._state.applied_ahead(record, undo)
        self._acceptor.keep(self.ballot, record, octets)
        if self._begun_by is UNKNOWN:
            self._begun_by = self._world.trace.at()
        self.pack_when_idle()

    def after_commit(self, step: Step) -> None:
        """Runs `step` once nothing that the namespace shows now can be lost any more, and no read elsewhere shows less."""
        if self.idle:
            step()
        else:
            self._on_decided.append((self.last, step))

    def after_executed(self, step: Step) -> None:
        """Runs `step` once every member of the view has executed what the namespace shows now."""
        if self.executed >= self.last:
            step()
        else:
            self._on_executed.append((self.last, step))

    # --- the packer ------------------------------------------------------------------------------------------------

    def pack_when_idle(self) -> None:
        """DCFS3's packing thread: it runs once everything that is ready has been served, and takes what is there by then."""
        if not self._packs_soon:
            self._packs_soon = True
            self._world.when_idle(self._pack)

    def _pack(self) -> None:
        self._packs_soon = False
        if self._begun_by is not UNKNOWN:
            self._world.trace.follows(self._begun_by)
            self._begun_by = UNKNOWN
        if not self._over:
            for follower in self.followers.values():
                follower.send(self.last, self.decided)

    def admit(self, name: str, success: int, disk: int) -> Follower:
        """Sends to this member from now on; it has everything up to `success`, which is decided."""
        follower = self.followers[name] = Follower(
            name, self.ballot, success, self._packing, self._acceptor.log, self._world, disk, self.last
        )
        self.pack_when_idle()
        return follower

    # --- counting --------------------------------------------------------------------------------------------------

    def on_own_durable(self, ballot: int, slot: int) -> None:
        if ballot == self.ballot and not self._over:
            self._own = max(self._own, slot)
            self._count()

    def on_accepted(self, peer: str, message: Accepted) -> None:
        follower = self.followers.get(peer)
        if follower is None or message.ballot != self.ballot or message.disk != follower.disk:
            what = "not of who is sent records"
            if follower is not None:
                what = f"of ballot {message.ballot} and disk {message.disk}"
            self._ignoring.tell(peer, message, f"{what}; this is ballot {self.ballot}")
            return
        follower.on_accepted(message, self.decided)
        if follower.sent < self.last:
            self.pack_when_idle()
        self._count()

    def _accepted(self, name: str) -> int:
        if name == self._world.name:
            return self._own
        follower = self.followers.get(name)
        return 0 if follower is None else follower.accepted

    def _executed(self, name: str) -> int:
        if name == self._world.name:
            return self.decided
        follower = self.followers.get(name)
        return 0 if follower is None else follower.executed

    def _majority_has(self) -> int:
        """Every slot up to here is accepted by a majority of the configured group."""
        if self._shrinks:
            return self._own
        reached = sorted((self._accepted(name) for name in self._configured), reverse=True)
        return reached[len(self._configured) // 2]

    def _count(self) -> None:
        majority = self._majority_has()
        if self.changing is not None and majority >= self.changing[0]:
            self.view = list(self.changing[1])
        decided = min([majority, *(self._accepted(name) for name in self.view)])
        if decided > self.decided:
            self._decide(decided)
        executed = min(self._executed(name) for name in self.view)
        if executed > self.executed:
            had_room = not self.full
            self.executed = executed
            _run_up_to(self._on_executed, executed)
            if not had_room and not self.full:
                self.on_unparked()

    def _decide(self, slot: int) -> None:
        for record in self._acceptor.queue.waiting_up_to(slot):
            self._tell(record)
        self.decided, self._advanced_ns = slot, self._world.clock.monotonic_ns()
        while self._began and self._began[0][0] <= slot:
            self.flushes += 1
            self.flushing_ns += self._advanced_ns - self._began.popleft()[1]
        self._acceptor.decide_own(self.ballot, slot)
        if self.changing is not None and slot >= self.changing[0]:
            self.recorded, self.changing = self.changing[1], None
            self._changes += 1
            self.on_recorded()
        _run_up_to(self._on_decided, slot)
        self.pack_when_idle()

    def _tell(self, record: LogRecord) -> None:
        mark = self._acceptor.log.mark_at(record.sn)
        assert mark is not None
        holders = [name for name in self._holders() if self._accepted(name) >= record.sn]
        self._commits.emit(record, self.ballot, mark.crc, holders, self._changes)

    def _holders(self) -> list[str]:
        return [self._world.name, *self.followers]

    # --- time ------------------------------------------------------------------------------------------------------

    def on_tick(self) -> None:
        for follower in self.followers.values():
            follower.on_tick()
        self._pack()

    def forgive(self) -> None:
        """This server stood still for a while."""
        for follower in self.followers.values():
            follower.forgive()

    def silent(self, timeout_ns: int) -> list[str]:
        """Members, of the view or about to join, from which something is overdue."""
        return [name for name, follower in self.followers.items() if follower.silent(timeout_ns)]

    def out_of_reach(self, timeout_ns: int) -> list[str]:
        """The configured group, while nothing that was proposed has been decided for so long; else none."""
        if self.idle or self._world.clock.monotonic_ns() - self._advanced_ns < timeout_ns:
            return []
        return self._configured

    def end(self) -> list[Any]:
        """The tenure is over: nobody is answered. Every record is in a slot."""
        self._over = True
        self._on_decided.clear()
        self._on_executed.clear()
        return []


def _run_up_to(steps: deque[tuple[int, Step]], slot: int) -> None:
    while steps and steps[0][0] <= slot:
        steps.popleft()[1]()
