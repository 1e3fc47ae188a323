"""The agreement of the three servers of the simulated coordination service: one log, its leader, and each server's progress.

As in ZooKeeper, the leader orders changes and commits those that a majority has logged. Each server applies them in order to a tree of its
own and answers reads from it. A follower that is cut off from the leader keeps its old tree for `sync_limit_ns`; then it serves no client
until it has caught up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nodes.coordination import operations as ops
from nodes.coordination.operations import OperationResult
from nodes.coordination.tree import ZnodeTree
from nodes.sim.contact import Contact
from nodes.sim.links import Links
from nodes.sim.loop import Loop
from nodes.trace.present import UNKNOWN

if TYPE_CHECKING:
    from nodes.sim.connection import SimConnection

MILLISECOND = 1_000_000
TICK_MS = 100
"""Sessions end at multiples of this time."""
SYNC_LIMIT_NS = 10_000 * MILLISECOND
"""ZooKeeper's syncLimit times tickTime, with the values of its sample configuration: five ticks of 2 s."""
ELECTION_NS = 200 * MILLISECOND
JOIN_NS = 50 * MILLISECOND


class NoQuorum(Exception):
    """No leader of the coordination service has a majority now."""


class LogEntry:
    """One entry of the log. `reply` is called at `origin` when it applies the entry."""

    __slots__ = ("at_ms", "cause", "operation", "origin", "reply", "session")

    def __init__(
        self,
        session: int,
        operation: ops.Operation,
        at_ms: int,
        origin: EnsembleMember | None = None,
        reply: Callable[[OperationResult], None] | None = None,
    ):
        self.session = session
        self.operation = operation
        self.at_ms = at_ms
        self.origin = origin
        self.reply = reply
        self.cause = UNKNOWN
        """The cause of the entry; once it is applied, its reported event."""


class EnsembleMember:
    """One server of the ensemble. Log and tree survive a crash."""

    def __init__(self, name: str):
        self.name = name
        self.tree = ZnodeTree(tick_ms=TICK_MS)
        self.up = True
        self.serving = False
        """The member leads, or is in step with the leader as far as it knows."""
        self.logged = 0
        """The last entry on its disk."""
        self.applied = 0
        """The last entry in its tree."""
        self.lost_at_ns = -1
        """Time when it lost contact with its leader; -1 while it has contact."""
        self.connections: dict[int, SimConnection] = {}
        """Connections of clients, by session."""


class Quorum:
    """`deliver(member, entry, first)` applies an entry to a member's tree; `first` when no other member has applied it."""

    def __init__(
        self,
        loop: Loop,
        links: Links,
        names: list[str],
        deliver: Callable[[EnsembleMember, LogEntry, bool], None],
        stopped_serving: Callable[[EnsembleMember], None],
        on_leader: Callable[[EnsembleMember], None],
    ):
        self._loop = loop
        self._rng = links.rng
        self.members = {name: EnsembleMember(name) for name in names}
        self.contact = Contact(loop, links, list(self.members.values()))
        self.leader: EnsembleMember | None = next(iter(self.members.values()))
        self.sync_limit_ns = SYNC_LIMIT_NS
        self._on_leader = on_leader
        self._deliver = deliver
        self._stopped_serving = stopped_serving
        self._log: dict[int, LogEntry] = {}
        """Entries that some member has not applied yet, by place."""
        self._last = 0
        self.committed = 0
        self._observed = 0
        self._electing = False
        for member in self.members.values():
            self._catch_up(member)

    # --- contact ---------------------------------------------------------------------------------------------------

    def reaches_leader(self, member: EnsembleMember) -> bool:
        leader = self.leader
        return leader is member or (leader is not None and member.serving and member.lost_at_ns < 0)

    def has_majority(self) -> bool:
        """Whether a change proposed now can be committed."""
        return self.leader is not None and self._is_majority(
            [member for member in self.members.values() if self.reaches_leader(member)]
        )

    def _is_majority(self, members: list[EnsembleMember]) -> bool:
        return 2 * len(members) > len(self.members)

    def _followers(self) -> list[EnsembleMember]:
        return [each for each in self.members.values() if each.serving and each is not self.leader]

    def links_changed(self) -> None:
        """Some link was cut or healed."""
        self.contact.links_changed()
        if self.leader is None:
            self.look()
            return
        for member in self.members.values():
            if member is not self.leader and member.up:
                self._check_contact(member, self.leader)

    def _check_contact(self, member: EnsembleMember, leader: EnsembleMember) -> None:
        if self.contact.between(member, leader):
            member.lost_at_ns = -1
            if not member.serving:
                self._loop.at(self._loop.now_ns + JOIN_NS, self._join, member)
        elif member.serving and member.lost_at_ns < 0:
            lost_at_ns = member.lost_at_ns = self._loop.now_ns
            self._loop.at(lost_at_ns + self.sync_limit_ns, self._give_up, member, lost_at_ns)

    def _give_up(self, member: EnsembleMember, lost_at_ns: int) -> None:
        """The end of the sync limit: leader and follower drop each other."""
        if member.serving and member.lost_at_ns == lost_at_ns:
            self._drop(member)

    def _drop(self, member: EnsembleMember) -> None:
        self._stops(member)
        if self.leader is None or member is self.leader:
            self._leaderless()
            return
        self.contact.close(member, self.leader)
        if not self._is_majority([self.leader, *self._followers()]):
            self._leaderless()

    def _stops(self, member: EnsembleMember) -> None:
        member.serving = False
        member.lost_at_ns = -1
        self._stopped_serving(member)

    # --- the log ---------------------------------------------------------------------------------------------------

    def propose(self, entry: LogEntry) -> None:
        """Proposes an entry at the leader: it gets the next place of the log, and is committed once a majority has logged it."""
        leader = self.leader
        assert leader is not None
        entry.cause = self._loop.cause
        self._last += 1
        place = leader.logged = self._last
        self._log[place] = entry
        for follower in self._followers():
            self.contact.to(leader, follower, lambda follower=follower: self._logs(follower, place))  # type: ignore[misc]

    def _logs(self, follower: EnsembleMember, place: int) -> None:
        follower.logged = max(follower.logged, place)
        assert self.leader is not None
        self.contact.to(follower, self.leader, self._commit)

    def _commit(self) -> None:
        """Commits, at the leader, the entries that a majority has logged; followers apply them on its message."""
        leader, followers = self.leader, self._followers()
        assert leader is not None
        logged = sorted((member.logged for member in self.members.values()), reverse=True)
        place = logged[len(self.members) // 2]
        if place <= self.committed:
            return
        self.committed = place
        self.apply(leader, place)
        for follower in followers:
            self.contact.to(leader, follower, lambda follower=follower: self.apply(follower, place))  # type: ignore[misc]

    def commit_now(self, entry: LogEntry) -> None:
        """Orders an entry, logs it on a majority and applies it at the leader in this step. Raises NoQuorum."""
        if not self.has_majority():
            raise NoQuorum
        self.propose(entry)
        for follower in self._followers():
            if self.reaches_leader(follower):
                follower.logged = self._last
        self._commit()

    def apply(self, member: EnsembleMember, place: int) -> None:
        while member.applied < place:
            member.applied += 1
            first = member.applied > self._observed
            self._observed = max(self._observed, member.applied)
            entry = self._log[member.applied]
            self._loop.cause = entry.cause
            self._deliver(member, entry, first)
            if first:
                entry.cause = self._loop.cause
        self._forget()

    def _forget(self) -> None:
        """Drops entries that all members have applied."""
        oldest = min(member.applied for member in self.members.values())
        for place in range(oldest, 0, -1):
            if self._log.pop(place, None) is None:
                break

    # --- the leader ------------------------------------------------------------------------------------------------

    def _leaderless(self) -> None:
        """Stops service until there is another leader."""
        self.leader = None
        self.contact.close_all()
        for member in self.members.values():
            if member.serving:
                self._stops(member)
        self.look()

    def look(self) -> None:
        """Without a leader: begins an election when two members can take part."""
        if self.leader is None and not self._electing and self._candidates():
            self._electing = True
            pause_ns = int(ELECTION_NS * (1 + self._rng.random()))
            self._loop.at(self._loop.now_ns + pause_ns, self._elect)

    def _candidates(self) -> list[EnsembleMember]:
        return [
            each
            for each in self.members.values()
            if each.up and self._is_majority(self.contact.reached_by(each))
        ]

    def _elect(self) -> None:
        """Elects the member with the longest log: every majority has a member with all committed entries, and every majority has a candidate."""
        self._electing = False
        candidates = self._candidates()
        if self.leader is None and candidates:
            newest = max(candidates, key=lambda member: member.logged)
            self._elected(newest, self.contact.reached_by(newest))

    def _elected(self, leader: EnsembleMember, reached: list[EnsembleMember]) -> None:
        """The elected member's log becomes the log; entries that others logged beyond it are void."""
        self.leader = leader
        for place in range(leader.logged + 1, self._last + 1):
            self._log.pop(place, None)
        self._last = self.committed = leader.logged
        for member in self.members.values():
            member.logged = min(member.logged, self._last)
        for member in [leader, *reached]:
            self._catch_up(member)
        self._on_leader(leader)
        self.links_changed()

    def _catch_up(self, member: EnsembleMember) -> None:
        member.logged = self._last
        member.serving = True
        self.apply(member, self.committed)

    def _join(self, member: EnsembleMember) -> None:
        leader = self.leader
        if leader is None:
            self.look()
        elif not member.serving and self.contact.between(member, leader):
            self._catch_up(member)
            self._commit()

    # --- faults ----------------------------------------------------------------------------------------------------

    def crash(self, member: EnsembleMember) -> None:
        if member.up:
            member.up = False
            self._drop(member)

    def restart(self, member: EnsembleMember) -> None:
        if not member.up:
            member.up = True
            self.links_changed()
