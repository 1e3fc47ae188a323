"""The journal writer of an active (CFS §4.1.2, Fig. 4b, coordinator's side; double buffer of §4.4).

One group is in flight and fills the next. A group is committed when it is durable on a write quorum of every configuration that may be
the last one; only then is anybody answered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.config import MILLISECOND
from nodes.metadata.records import call_of
from nodes.protocols.mams.log import ReplicaLog, encode_group
from nodes.protocols.mams.messages import Commit, Mismatch, Prepare, Prepared
from nodes.protocols.mams.pool_node import PoolNode, up_to
from nodes.protocols.mams.shared import shared_step
from nodes.protocols.mams.state import ReplicatedState
from nodes.protocols.mams.view import Configuration
from nodes.trace.events import Committed
from nodes.wire.messages import JournalGroup, Mark
from nodes.world import World

PREPARE_OCTETS = 1 << 20
RESEND_NS = 100 * MILLISECOND

Answering = Callable[[], None]


class Participant:
    """What the writer knows of one replica it sends to."""

    def __init__(self, name: str, matched: Mark):
        self.name = name
        self.matched = matched
        """Everything up to here is known to be equal and durable there."""
        self.sent_sn = matched.sn
        self.waiting_since_ns = 0
        """When the oldest group without an acknowledgement was first sent; 0 when all are acknowledged."""
        self.sent_at_ns = 0


class JournalWriter:
    """Gives groups their sn, replicates them, tells when they are committed."""

    def __init__(
        self,
        world: World,
        group: str,
        number: int,
        tells_stamps: bool,
        epoch: int,
        log: ReplicaLog,
        state: ReplicatedState,
        pool: PoolNode,
        configuration: Configuration,
        shrinks_silently: bool,
    ):
        self._world = world
        self._group = group
        self._number = number
        self._tells_stamps = tells_stamps
        """In a cluster of several groups: what was committed when, and for whom else."""
        self.epoch = epoch
        self._log = log
        self._state = state
        self._pool = pool
        self._shrinks_silently = shrinks_silently
        self.configurations = [configuration]
        """The last committed one; two while a change of it is in doubt (safety rule 3)."""
        self.participants: dict[str, Participant] = {}
        self.own_durable_sn = 0
        self.groupid = 0
        self._records: list[Any] = []
        self._undo: list[Any] = []
        self._answers: list[Answering] = []
        self._closed: list[tuple[int, list[Answering]]] = []
        """Answers that wait for a sn, in order."""
        self._in_flight: JournalGroup | None = None
        self._operations: list[tuple[str, int]] = []
        self._flush_wanted = False
        self._over = False
        self.parked = False
        """Too few are there to commit anything: what is ahead of commit has been taken back, reads go on (safety rule 19)."""
        self.parked_at_ns = 0
        """While parked: later than every record that is in the namespace, earlier than every one that was taken back."""
        self.on_unparked: Callable[[], None] = lambda: None
        self._told_commit_sn = 0
        self._last_place = 0
        self.on_lost: Callable[[str], None] = lambda participant: None
        """A participant's acknowledgement is overdue: it is sent no more journals."""
        self.on_far: Callable[[str, list[Mark]], None] = lambda participant, tails: None
        """A participant's journal does not join on to ours."""

    # --- intake ------------------------------------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Nothing is ahead of commit."""
        return self._in_flight is None and not self._records

    @property
    def open_sn(self) -> int:
        """The sn that a read of the present namespace has seen the last of."""
        if self.parked:
            return self._state.commit_sn
        return self._log.last.sn + 1 if self._records else self._log.last.sn

    @property
    def open_place(self) -> int:
        if self.parked:
            return self._last_place
        if self._records:
            return len(self._records)
        return len(self._in_flight.records) if self._in_flight else self._last_place

    def record(self, record: Any, undo: list[Any]) -> tuple[int, int]:
        """Takes a record that the namespace has already applied; returns its sn and its place in the group."""
        self._records.append(record)
        self._undo.extend(undo)
        if self._in_flight is None:
            self.flush_when_idle()
        return self._log.last.sn + 1, len(self._records)

    def apply(self, record: Any) -> tuple[int, int]:
        """Applies a record to the namespace and takes it; returns its sn and its place in the group."""
        undo: list[Any] = []
        self._state.namespace.apply(record, undo)
        return self.record(record, undo)

    def after_commit(self, answer: Answering) -> None:
        """Runs `answer` once nothing that the namespace shows now can be lost any more."""
        if self._records:
            self._answers.append(answer)
        elif self._in_flight is not None:
            self._closed[-1][1].append(answer)
        else:
            answer()

    def flush_when_idle(self) -> None:
        if not self._flush_wanted:
            self._flush_wanted = True
            self._world.when_idle(self._flush)

    def _flush(self) -> None:
        self._flush_wanted = False
        if self._in_flight is not None or self._over:
            return
        if self._records:
            self.close_group()
        elif self._told_commit_sn < self._state.commit_sn:
            self._tell_commit()

    def _tell_commit(self) -> None:
        self._told_commit_sn = self._state.commit_sn
        for name in self.participants:
            self._world.network.send(name, Commit(self.epoch, self._state.commit_sn))

    # --- a group -----------------------------------------------------------------------------------------------

    def close_group(self) -> None:
        """bufCurrent becomes bufFlush: gives the next sn, writes it here and at every participant. May be empty."""
        self.groupid += 1
        previous = self._log.last
        commit_sn = self._state.commit_sn
        group = JournalGroup(
            previous.sn + 1, self.groupid, self.epoch, self._pool.incarnation, previous, commit_sn,
            self._world.clock.wall_ns(), self._records,
        )  # fmt: skip
        octets, mark = encode_group(group)
        self._in_flight = group
        self._closed.append((group.sn, self._answers))
        self._state.applied_ahead(group, self._undo)
        self._pool.append_own(group, octets, mark)
        self._records, self._undo, self._answers = [], [], []
        prepare = Prepare(self.epoch, commit_sn, previous, [octets])
        self._told_commit_sn = commit_sn
        now = self._world.clock.monotonic_ns()
        for participant in self.participants.values():
            if participant.sent_sn == previous.sn:
                self._world.network.send(participant.name, prepare)
                self._sent(participant, group.sn, now)

    def _sent(self, participant: Participant, sn: int, now: int) -> None:
        participant.sent_sn = sn
        participant.sent_at_ns = now
        if not participant.waiting_since_ns:
            participant.waiting_since_ns = now

    def pump(self, participant: Participant) -> None:
        """Sends what the participant lacks, a megabyte at a time."""
        from_sn = participant.sent_sn + 1
        groups = up_to(self._log.octets(from_sn, self._log.last.sn), PREPARE_OCTETS)
        previous = self._log.mark_at(from_sn - 1)
        if previous is None or (not groups and from_sn <= self._log.last.sn):
            self.on_far(participant.name, [])
            return
        prepare = Prepare(self.epoch, self._state.commit_sn, previous, groups)
        self._world.network.send(participant.name, prepare)
        self._sent(participant, previous.sn + len(groups), self._world.clock.monotonic_ns())

    def admit(self, name: str, matched: Mark) -> Participant:
        """Sends to this replica from now on, beginning behind `matched`."""
        participant = self.participants[name] = Participant(name, matched)
        self.pump(participant)
        return participant

    def on_own_durable(self, mark: Mark) -> None:
        self.own_durable_sn = mark.sn
        self._count()

    def on_prepared(self, peer: str, message: Prepared) -> None:
        participant = self.participants.get(peer)
        if message.epoch != self.epoch or participant is None or message.mark.sn < participant.matched.sn:
            return
        if not self._log.holds(message.mark):
            return
        participant.matched = message.mark
        now = self._world.clock.monotonic_ns()
        participant.waiting_since_ns = now if message.mark.sn < participant.sent_sn else 0
        if participant.sent_sn < self._log.last.sn and message.mark.sn >= participant.sent_sn:
            self.pump(participant)
        self._count()

    def on_mismatch(self, peer: str, message: Mismatch) -> None:
        """Goes back to where the two journals agree."""
        participant = self.participants.get(peer)
        if message.epoch != self.epoch or participant is None:
            return
        common = self._log.agrees_up_to(message.tails)
        mark = None if common is None else self._log.mark_at(common)
        if mark is None:
            self.on_far(peer, message.tails)
            return
        participant.sent_sn = mark.sn
        self.pump(participant)

    # --- too few ---------------------------------------------------------------------------------------------------

    def _lacks_quorum(self) -> bool:
        there = {self._world.name, *self.participants}
        return any(
            sum(member in there for member in configuration.members) < configuration.write_quorum
            for configuration in self.configurations
        )

    def _park(self) -> None:
        """Brings the namespace back to what is committed; the groups stay in the journal and in flight."""
        self.parked = True
        waiting = [record for group in self._state.ahead() for record in group.records] + self._records
        self.parked_at_ns = min((record.at_ns for record in waiting), default=self._world.clock.wall_ns()) - 1
        self._state.step_back(self._undo)

    def _unpark(self) -> None:
        self.parked = False
        self._state.apply_ahead()
        for record in self._records:
            self._state.namespace.apply(record, self._undo)
        self.on_unparked()

    # --- quorum ------------------------------------------------------------------------------------------------

    def holders(self, sn: int) -> list[str]:
        """Who is known to have everything up to sn durably, ourselves first."""
        mine = [self._world.name] if self.own_durable_sn >= sn else []
        return mine + [
            name for name, participant in self.participants.items() if participant.matched.sn >= sn
        ]

    def safe(self, sn: int) -> bool:
        """Whether sn is held by a write quorum of every configuration that may be the last."""
        if self.own_durable_sn < sn:
            return False
        holders = self.holders(sn)
        if self._shrinks_silently:
            return len(holders) >= (1 + len(self.participants)) // 2 + 1
        return all(
            sum(member in holders for member in configuration.members) >= configuration.write_quorum
            for configuration in self.configurations
        )

    def _count(self) -> None:
        if self.parked and not self._lacks_quorum():
            self._unpark()
        group = self._in_flight
        if group is None or not self.safe(group.sn):
            return
        self._in_flight = None
        self._last_place = len(group.records)
        for ahead in self._state.ahead():
            self._tell_committed(ahead)
        self._state.commit(group.sn)
        while self._closed and self._closed[0][0] <= group.sn:
            for answer in self._closed.pop(0)[1]:
                answer()
        self.flush_when_idle()

    def _tell_committed(self, group: JournalGroup) -> None:
        """A group of this tenure, or one that the elected adopted and has now recommitted."""
        mark = self._log.mark_at(group.sn)
        assert mark is not None
        records = group.records
        operations = [call_of(record) for record in records]
        configuration = self.configurations[-1].number
        stamps = [record.at_ns for record in records] if self._tells_stamps else []
        self._world.trace.emit(
            Committed(
                self._group,
                group.sn,
                self.epoch,
                mark.crc,
                self.holders(group.sn),
                configuration,
                operations,
                stamps,
            )
        )
        if self._tells_stamps:
            for record in records:
                shared = shared_step(self._group, self._number, record)
                if shared is not None:
                    self._world.trace.emit(shared)

    def recount(self) -> None:
        """After the configuration changed."""
        self._count()

    # --- time --------------------------------------------------------------------------------------------------

    def on_tick(self, ack_timeout_ns: int) -> None:
        """Sends again what may be lost, gives up on those who do not answer in time."""
        now = self._world.clock.monotonic_ns()
        for participant in list(self.participants.values()):
            if not participant.waiting_since_ns:
                continue
            if now - participant.waiting_since_ns > ack_timeout_ns:
                del self.participants[participant.name]
                self.on_lost(participant.name)
            elif now - participant.sent_at_ns > RESEND_NS:
                participant.sent_sn = participant.matched.sn
                self.pump(participant)
        if not self.parked and not self.idle and not self._shrinks_silently and self._lacks_quorum():
            self._park()
        self._count()

    def end(self) -> list[Any]:
        """The tenure is over: nobody is answered; returns what undoes the records of no group."""
        self._over = True
        self._answers.clear()
        self._closed.clear()
        return self._undo
