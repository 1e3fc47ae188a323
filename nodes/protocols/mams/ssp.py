"""Slot `journal_sync`, mechanism `ssp`: the shared storage pool's optimised 2PC (CFS §4.1.2, Fig. 4b, coordinator's side).

A group goes to every participant at once and is safe when it is durable on a write quorum of every configuration that may be the last one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.config import MILLISECOND
from nodes.ignored_messages import Ignoring
from nodes.listeners import Listeners
from nodes.mutations import Mutations
from nodes.protocols.mams.messages import Commit, DecisionLogged, Mismatch, Prepare, Prepared
from nodes.protocols.mams.pool_node import PoolJournal
from nodes.replicas.log import ReplicaLog
from nodes.replicas.state import ReplicatedState
from nodes.replicas.view import Configuration
from nodes.wire.messages import JournalGroup, Mark, Message
from nodes.world import World

PREPARE_BYTES = 1 << 20
RESEND_NS = 100 * MILLISECOND


class Participant:
    """The writer's knowledge of one replica to which it sends groups."""

    def __init__(self, name: str, matched: Mark, disk: int):
        self.name = name
        self.disk = disk
        """Instance of its disk. Acknowledgements of another disk do not count."""
        self.matched = matched
        """Mark up to which its journal is durable and equal to the writer's."""
        self.confirmed = False
        """Whether `matched` was acknowledged to this sender, not only read from a message that may be old."""
        self.sent_sn = matched.sn
        self.waiting_since_ns = 0
        """Time since when an acknowledgement is due, on the monotonic clock in ns; 0 when all groups are acknowledged."""
        self.sent_at_ns = 0
        self.answered_at_ns = 0
        """Time of its last acknowledgement."""


class Ssp:
    """The participants of one tenure: their journals, the groups that they are sent, and their quorums.

    Many methods: one for each question about the quorums, which two other ways of counting answer differently.
    """

    acknowledged = True
    """Whether participants acknowledge durable groups."""

    def __init__(
        self,
        world: World,
        epoch: int,
        log: ReplicaLog,
        state: ReplicatedState,
        pool: PoolJournal,
        configuration: Configuration,
        shrinks_silently: bool,
        mutations: Mutations,
        on_lost: Callable[[str], None],
    ):
        self._world = world
        self._ignoring = Ignoring(world)
        self.epoch = epoch
        self._log = log
        self._state = state
        self._pool = pool
        self._shrinks_silently = shrinks_silently
        self._mutations = mutations
        self.configurations = [configuration]
        """The last committed configuration; two while a change of it is in doubt (safety rule 3)."""
        self.participants: dict[str, Participant] = {}
        self.own_durable_sn = log.last.sn
        self.handlers: dict[type[Message], Callable[[str, Any], None]] = {
            Prepared: self.on_prepared,
            Mismatch: self.on_mismatch,
        }
        self.on_progress: Listeners[()] = Listeners()
        self._on_lost = on_lost
        """Callback for a participant whose acknowledgement is overdue. It is sent no more groups."""

    @property
    def configuration_number(self) -> int:
        return self.configurations[-1].number

    # --- images ------------------------------------------------------------------------------------------------

    def standbys(self) -> list[str]:
        return list(self.participants)

    def matched_sns(self) -> list[int]:
        return [participant.matched.sn for participant in self.participants.values()]

    def suffice(self, holders: list[str]) -> bool:
        return all(each.has_write_quorum(holders) for each in self.configurations)

    def pruned(self, sn: int) -> None:
        """No effect: every participant keeps a journal of its own."""

    # --- a group -----------------------------------------------------------------------------------------------

    def write(self, group: JournalGroup, data: bytes, mark: Mark) -> None:
        previous = group.previous
        self._pool.append_own(group, data, mark)
        if self._mutations.commit_before_sync:
            self.own_durable_sn = mark.sn
        prepare = Prepare(self.epoch, group.commit_sn, previous, [data])
        now = self._world.clock.monotonic_ns()
        for participant in self.participants.values():
            if participant.sent_sn == previous.sn:
                self._world.network.send(participant.name, prepare)
                self._sent(participant, group.sn, now)

    def report_commit(self, sn: int) -> None:
        for name in self.participants:
            self._world.network.send(name, Commit(self.epoch, sn))

    def _sent(self, participant: Participant, sn: int, now: int) -> None:
        participant.sent_sn = sn
        participant.sent_at_ns = now
        if not participant.waiting_since_ns:
            participant.waiting_since_ns = now

    def pump(self, participant: Participant) -> None:
        """Sends the groups that the participant lacks, a megabyte at a time."""
        from_sn = participant.sent_sn + 1
        groups = self._log.encoded(from_sn, self._log.last.sn, PREPARE_BYTES)
        previous = self._log.mark_at(from_sn - 1)
        if previous is None or (not groups and from_sn <= self._log.last.sn):
            self.participants.pop(participant.name, None)
            return
        prepare = Prepare(self.epoch, self._state.commit_sn, previous, groups)
        self._world.network.send(participant.name, prepare)
        self._sent(participant, previous.sn + len(groups), self._world.clock.monotonic_ns())

    def admit(self, name: str, matched: Mark, disk: int) -> Participant:
        """Sends groups after `matched` to this replica from now on."""
        participant = self.participants[name] = Participant(name, matched, disk)
        self.pump(participant)
        return participant

    def on_own_durable(self, mark: Mark) -> None:
        self.own_durable_sn = max(self.own_durable_sn, mark.sn)
        self.recount()

    def on_prepared(self, peer: str, message: Prepared) -> None:
        participant = self.participants.get(peer)
        if not self.is_ours(peer, message) or participant is None or message.mark.sn < participant.matched.sn:
            return
        if message.disk != participant.disk:
            self._ignoring.report(peer, message, "of another disk than the one that is sent groups")
            return
        if not self._log.holds(message.mark):
            self._ignoring.report(peer, message, f"of a group {message.mark.sn} that is not in this journal")
            return
        participant.matched, participant.confirmed = message.mark, True
        now = participant.answered_at_ns = self._world.clock.monotonic_ns()
        participant.waiting_since_ns = now if message.mark.sn < participant.sent_sn else 0
        if participant.sent_sn < self._log.last.sn and message.mark.sn >= participant.sent_sn:
            self.pump(participant)
        self.recount()

    def is_ours(self, peer: str, message: Prepared | Mismatch | DecisionLogged) -> bool:
        """Whether the message is of this epoch and from a participant. Other messages are reported as ignored."""
        if message.epoch != self.epoch:
            reported = f"of epoch {message.epoch}; this is epoch {self.epoch}"
            self._ignoring.report(peer, message, reported)
            return False
        if peer not in self.participants:
            self._ignoring.report(peer, message, "not of a participant")
            return False
        return True

    def on_mismatch(self, peer: str, message: Mismatch) -> None:
        """Sends again from the mark where both journals agree. Groups that the participant no longer has do not count."""
        participant = self.participants.get(peer)
        if not self.is_ours(peer, message) or participant is None:
            return
        common = self._log.agrees_up_to(message.tails)
        mark = None if common is None else self._log.mark_at(common)
        if mark is None:
            self.participants.pop(peer, None)
            return
        if mark.sn < participant.matched.sn:
            participant.matched = mark
        participant.sent_sn = mark.sn
        self.pump(participant)

    def lose(self, name: str) -> None:
        """Removes this replica from the participants."""
        self.participants.pop(name, None)
        self.recount()

    def recount(self) -> None:
        """Notifies the listeners that more of the journal may be safe."""
        self.on_progress()

    # --- quorum ------------------------------------------------------------------------------------------------

    @property
    def lacks_quorum(self) -> bool:
        there = [self._world.name, *self.participants]
        return not self._shrinks_silently and not self._enough_of_all(there)

    @property
    def lacks_answers(self) -> bool:
        """Whether participants that have acknowledged since their admission form no quorum with this server."""
        return not self._shrinks_silently and not self._enough_of_all(self.answering())

    def answering(self) -> list[str]:
        """This server and the participants that have acknowledged since their admission."""
        return [self._world.name, *(name for name, each in self.participants.items() if each.confirmed)]

    def _enough(self, there: list[str], members: list[str]) -> bool:
        """Whether the servers in `there` are a write quorum of the members."""
        quorum = len(members) // 2 + 1
        if self._mutations.off_by_one_quorum:
            quorum -= 1
        return sum(map(there.__contains__, members)) >= quorum

    def _enough_of_all(self, there: list[str]) -> bool:
        return all(self._enough(there, configuration.members) for configuration in self.configurations)

    def holders(self, sn: int) -> list[str]:
        """Servers that are known to have everything up to sn durably, this one first."""
        mine = [self._world.name] if self.own_durable_sn >= sn else []
        return mine + [
            name for name, each in self.participants.items() if each.confirmed and each.matched.sn >= sn
        ]

    def ahead_of_own(self) -> list[str]:
        """Participants that have durably what this server has not yet."""
        return self.holders(self.own_durable_sn + 1)

    def safe(self, sn: int) -> bool:
        """Whether sn is held by a write quorum of every configuration that may be the last."""
        if self.own_durable_sn < sn:
            return False
        holders = self.holders(sn)
        if self._shrinks_silently:
            return len(holders) >= (1 + len(self.participants)) // 2 + 1
        return self._enough_of_all(holders)

    # --- time --------------------------------------------------------------------------------------------------

    def on_tick(self, ack_timeout_ns: int) -> None:
        """Sends groups again that may be lost, and drops participants that do not acknowledge in time.

        A participant with nothing to acknowledge is probed once per session time-out.
        """
        now = self._world.clock.monotonic_ns()
        probe_ns = self._world.coordination.session_timeout_ns
        for participant in list(self.participants.values()):
            if not participant.waiting_since_ns:
                if now - participant.sent_at_ns >= probe_ns:
                    self.pump(participant)
            elif now - participant.waiting_since_ns > ack_timeout_ns:
                del self.participants[participant.name]
                self._on_lost(participant.name)
            elif now - participant.sent_at_ns > RESEND_NS:
                participant.sent_sn = participant.matched.sn
                self.pump(participant)
