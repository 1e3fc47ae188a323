"""The primary's proposer assigns slots to writes and counts when they are decided and executed everywhere (DCFS3; safety rules 8, 9, 15).

A slot is decided when a majority of the configured group and every member of the view have accepted it. Members execute it only then, so a read
at any member waits for it or shows it. The primary answers a write when every member of the view has executed it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nodes.ignored_messages import Ignoring
from nodes.metadata.records import IncarnationRecord, Record, rollback_in
from nodes.metadata_server.shared_steps import CommitEmitter
from nodes.protocols.paxos.acceptor import Acceptor
from nodes.protocols.paxos.followers import Follower
from nodes.protocols.paxos.log import encode_record
from nodes.protocols.paxos.messages import Accepted, LogRecord
from nodes.protocols.paxos.packing import Packing
from nodes.protocols.paxos.tally import BallotTally
from nodes.replicas.leader import LOOK_NS, TakeoverStopped
from nodes.replicas.state import ReplicatedState
from nodes.trace.present import UNKNOWN
from nodes.wire.messages import Mark
from nodes.world import World

OPEN_MAX = 2_048
"""Most open slots at once; further writes wait."""

Step = Callable[[], None]


class Proposer:
    """One ballot's slots. `RecordWriter` of nodes/slots.py, with one record a slot."""

    stalled = False
    """Always false: without a majority, reads wait like writes."""
    stalled_at_ns = 0

    def __init__(
        self,
        world: World,
        commits: CommitEmitter,
        configured: list[str],
        disks: Mapping[str, int],
        ballot: int,
        acceptor: Acceptor,
        state: ReplicatedState,
        packing: Packing,
        shrinks: bool,
        any_disk: bool,
        mark: Mark,
        made: int,
        on_recorded: Step,
        on_resumed: Step,
        open_slots: int = 0,
    ):
        """`disks`: the disks on record. `on_resumed` is called when there is room for writes again. `open_slots`: most open slots at once; 0
        selects the built-in limit."""
        self.open_max = open_slots or OPEN_MAX
        self._world = world
        self._ignoring = Ignoring(world)
        self._commits = commits
        self.ballot = self.epoch = ballot
        self._acceptor = acceptor
        self._state = state
        self._packing = packing
        self._mark = mark
        self._made = made
        """Number of records made in this ballot."""
        success = acceptor.queue.success
        self.tally = BallotTally(world.name, configured, shrinks, success, acceptor.disk, disks, any_disk)
        self.decided = acceptor.queue.success
        self.executed = acceptor.queue.success
        """Last slot that every member of the view has executed."""
        self._advanced_ns = world.clock.monotonic_ns()
        """Time of the last decision, or of the first proposal after all slots were decided."""
        self._last_place = 0
        self._began: deque[tuple[int, int]] = deque()
        """Undecided slots of this tenure, with the times of their proposals."""
        self.flushes = 0
        self.flushing_ns = 0
        self._on_decided: deque[tuple[int, Step]] = deque()
        self._on_executed: deque[tuple[int, Step]] = deque()
        self._packs_soon = False
        self._begun_by = UNKNOWN
        """Event that caused the first record that is not packed yet."""
        self._over = False
        self._on_recorded = on_recorded
        """Callback when a change of the view is decided."""
        self._on_unparked = on_resumed

    # --- admission -------------------------------------------------------------------------------------------------

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
        """Whether every proposed slot is decided."""
        return self.decided == self.last

    @property
    def full(self) -> bool:
        return self.last - self.executed >= self.open_max

    def apply(self, record: Record) -> tuple[int, int]:
        """Executes a record and proposes it in the next slot. Returns the slot and the record's place in it."""
        undo: list[Any] = []
        self._state.namespace.apply(record, undo)
        self._propose([record], undo, record.at_ns, [])
        return self.last, 1

    def roll_back(self, record: IncarnationRecord) -> int:
        """Proposes a record that is executed when it is decided, here as on every other member; returns its slot."""
        self._propose([record], [], record.at_ns, [])
        return self.last

    def close_group(self) -> None:
        """Does nothing, because each record has its own slot."""

    def change_view(self, view: list[str], at_ns: int) -> None:
        self.tally.change_view(self.last + 1, view)
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
        data, self._mark = encode_record(record)
        self._last_place = len(records)
        if self._state.waits or rollback_in(records) is not None:
            self._state.prepared(record)
        else:
            self._state.applied_ahead(record, undo)
        self._acceptor.keep(self.ballot, record, data)
        if self._begun_by is UNKNOWN:
            self._begun_by = self._world.trace.at()
        self.pack_when_idle()

    def after_commit(self, step: Step) -> None:
        """Runs `step` once every slot that the namespace shows now is decided, so that none is lost and no read elsewhere shows less."""
        if self.idle:
            step()
        else:
            self._on_decided.append((self.last, step))

    def after_executed(self, step: Step) -> None:
        """Runs `step` once every member of the view has executed every slot that the namespace shows now."""
        if self.executed >= self.last:
            step()
        else:
            self._on_executed.append((self.last, step))

    # --- the packer ------------------------------------------------------------------------------------------------

    def pack_when_idle(self) -> None:
        """DCFS3's packing thread: it runs after all ready events and sends the records that are available by then."""
        if not self._packs_soon:
            self._packs_soon = True
            self._world.when_idle(self._pack)

    def _pack(self) -> None:
        self._packs_soon = False
        if self._begun_by is not UNKNOWN:
            self._world.trace.follows(self._begun_by)
            self._begun_by = UNKNOWN
        if not self._over:
            for follower in self.tally.followers.values():
                follower.send(self.last, self.decided)

    def admit(self, name: str, success: int, disk: int) -> Follower:
        """Starts to send to this member, which has every slot up to the decided slot `success`."""
        follower = self.tally.followers[name] = Follower(
            name,
            self.ballot,
            success,
            self._packing,
            self._acceptor.log,
            self._world,
            disk,
            self.last,
            2 * self.open_max,
        )
        self.pack_when_idle()
        return follower

    # --- counting --------------------------------------------------------------------------------------------------

    def on_own_durable(self, ballot: int, slot: int) -> None:
        if ballot == self.ballot and not self._over:
            self.tally.own = max(self.tally.own, slot)
            self.count()

    def on_accepted(self, peer: str, message: Accepted) -> None:
        follower = self.tally.followers.get(peer)
        if follower is None or message.ballot != self.ballot or message.disk != follower.disk:
            what = "not of who is sent records"
            if follower is not None:
                what = f"of ballot {message.ballot} and disk {message.disk}"
            self._ignoring.report(peer, message, f"{what}; this is ballot {self.ballot}")
            return
        follower.on_accepted(message, self.decided)
        if follower.sent < self.last:
            self.pack_when_idle()
        self.count()

    def count(self) -> None:
        """Decides what the accepted slots and the disks on record decide now."""
        if self._over:
            return
        decided = self.tally.decided()
        if decided > self.decided:
            self._decide(decided)
        executed = self.tally.executed(self.decided)
        if executed > self.executed:
            had_room = not self.full
            self.executed = executed
            _run_up_to(self._on_executed, executed)
            if not had_room and not self.full:
                self._on_unparked()

    def _decide(self, slot: int) -> None:
        tally = self.tally
        for record in self._acceptor.queue.waiting_up_to(slot):
            mark = self._acceptor.log.mark_at(record.sn)
            assert mark is not None
            self._commits.emit(record, self.ballot, mark.crc, tally.holders(record.sn), tally.changes)
            if rollback_in(record.records) is not None:
                # Later commits belong to the new incarnation.
                self._acceptor.decide(self.ballot, record.sn)
        self.decided, self._advanced_ns = slot, self._world.clock.monotonic_ns()
        while self._began and self._began[0][0] <= slot:
            self.flushes += 1
            self.flushing_ns += self._advanced_ns - self._began.popleft()[1]
        self._acceptor.decide(self.ballot, slot)
        if self.tally.record_view(slot):
            self._on_recorded()
        _run_up_to(self._on_decided, slot)
        self.pack_when_idle()

    async def execute_up_to(self, slot: int, meanwhile: Callable[[], Awaitable[None]]) -> None:
        """Waits until the slots up to this one are decided, and no rollback is left to be applied. Raises TakeoverStopped, and what `meanwhile`
        raises."""
        state = self._state
        while not state.stuck_sn and (self.decided < slot or state.waits):
            await meanwhile()
            await self._world.clock.sleep(LOOK_NS)
        if state.stuck_sn:
            raise TakeoverStopped(f"the rollback in slot {state.stuck_sn} cannot be applied here")

    # --- time ------------------------------------------------------------------------------------------------------

    def on_tick(self, timeout_ns: int) -> None:
        for follower in self.tally.followers.values():
            follower.on_tick(timeout_ns)
        self._pack()

    def out_of_reach(self, timeout_ns: int) -> list[str]:
        """The configured group, while proposed slots stay undecided for the timeout; otherwise empty."""
        if self.idle or self._world.clock.monotonic_ns() - self._advanced_ns < timeout_ns:
            return []
        return self.tally.configured

    def end(self) -> list[Any]:
        """Ends the tenure without answers. Returns no records, because every record is in a slot."""
        self._over = True
        self._on_decided.clear()
        self._on_executed.clear()
        return []


def _run_up_to(steps: deque[tuple[int, Step]], slot: int) -> None:
    while steps and steps[0][0] <= slot:
        steps.popleft()[1]()
