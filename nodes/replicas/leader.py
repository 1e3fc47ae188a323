"""One tenure of a holder of the lock, as far as all families share it: lease, guard, end (CFS §4.2; safety rules 16 and 17)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar

from nodes.config import MILLISECOND
from nodes.replicas.grants import NEVER_NS, Grants
from nodes.replicas.lease import Lease, lock_term
from nodes.replicas.view import EpochNode, LostLock, ServerPlace, ViewMoved
from nodes.replicas.view_watcher import ViewServer, ViewWatcher
from nodes.roles import LEADING
from nodes.scope import Tenure
from nodes.trace.events import RoleChanged, Serving, StoppedServing
from nodes.wake import Rounds
from nodes.wire.messages import Mark
from nodes.world import Change, Clock, ConnectionLoss, CoordinationError, wait_at_most

LOOK_NS = 10 * MILLISECOND
RETRY_NS = 100 * MILLISECOND
LOOKS = 4
"""Number of looks at silent members per session time-out."""
ASKING = 4
"""Session time-outs within which a member that asks but answers nothing may still come to count, and a slow disk may end a write."""


class TakeoverStopped(Exception):
    """A takeover cannot continue: the leader releases the lock, and the group elects again."""


class Leader:
    """A leader from taking the lock to the end of its tenure. `ended` is called once."""

    WORD: ClassVar[str] = "epoch"
    """The family's term for the number of a tenure."""

    def __init__(
        self,
        server: ViewServer,
        tenure: Tenure,
        ended: Callable[[], None],
        own_writes: Rounds | None = None,
    ):
        """`own_writes`: the rounds of writing to this server's disk; None in a family that does not watch them."""
        self._server = server
        self._tenure = tenure
        self._ended = ended
        self.grants = Grants(server.world, server.config.cluster)
        self.lease = Lease(server.world, server.config.cluster, self.grants)
        self._confirm_now = asyncio.Event()
        self.serving = False
        self.skip_next_election = False
        """Too few members answer, so this server leaves the next round to the others (safety rule 17)."""
        self._own_writes = own_writes
        self._ahead_of_own: Callable[[], list[str]] | None = None
        """The members that have durably what this server's disk has yet to end; None in a family whose members do not acknowledge."""
        self._patient = own_writes is not None and own_writes.slow
        """Whether writes of this server's disk have more time, as long as no member is known to be faster."""
        self._disk_hangs = False
        self._received_ns: dict[str, int] = {}
        """Time of the last message from each of the others."""
        self._reached_ns = server.world.clock.monotonic_ns()
        """Time when enough members counted last, or when this tenure began."""
        self._answered_ns: dict[str, int] = {}
        """Time of the last answer to this server's messages, by member. An answer proves that both directions work."""

    @property
    def epoch(self) -> int:
        """Epoch of the tenure; 0 before it is known."""
        raise NotImplementedError

    def _end(self) -> None:
        """Undoes changes ahead of commit, and redirects waiting callers."""
        raise NotImplementedError

    async def take_over(self) -> None:
        """Runs the family's takeover and service as long as the tenure lasts. Raises TakeoverStopped, LostLock, CoordinationError."""
        raise NotImplementedError

    # --- steps -------------------------------------------------------------------------------------------------

    def hear(self, peer: str, answers: bool) -> None:
        """Notes a message of this peer. `answers`: it replies to a message of this server."""
        self._received_ns[peer] = self._server.world.clock.monotonic_ns()
        if answers:
            self._answered_ns[peer] = self._received_ns[peer]

    def stand_down(self, reason: str) -> None:
        """Ends the tenure at once: no answer is sent from here on (CFS §4.2.2, Fig. 5a)."""
        if not self._tenure.open:
            return
        self._tenure.close()
        if self.serving:
            server = self._server
            server.world.trace.emit(StoppedServing(server.group.name, self.epoch, reason))
        self.serving = False
        self._end()
        self._role("none", reason)
        self._ended()

    def on_connected(self) -> None:
        """The connection to coordination is back. A lease that its loss suspended is confirmed now, not with the next heartbeat."""
        self._confirm_now.set()

    def on_begun(self, epoch: int) -> bool:
        """A later epoch has begun, so that a leader of an earlier one stops serving. Returns whether this is so."""
        earlier = 0 < self.epoch < epoch
        if earlier:
            self.stand_down(f"{self.WORD} {epoch} has begun")
        return earlier

    def _could_go_on(self, there: int, size: int, spares: int) -> bool:
        """Whether so many members of a configuration of this size could serve without this server. `spares` are servers that could become members."""
        return 2 * there > size

    def _may_lead(self, place: ServerPlace) -> bool:
        """Whether a server with this place could lead."""
        return True

    def _role(self, role: str, reason: str) -> None:
        server = self._server
        server.world.trace.emit(RoleChanged(server.group.name, role, self.epoch, server.last.sn, reason))

    def _serves(self, role: str, reason: str, mark: Mark) -> None:
        self._role(role, reason)
        self._server.world.trace.emit(Serving(self._server.group.name, self.epoch, mark.sn, mark.crc))
        self.serving = True

    async def stay_out(self) -> None:
        """After the end of the tenure: waits for as long as elections are left to the others."""
        if self.skip_next_election:
            await self._server.world.clock.sleep(self._server.world.coordination.session_timeout_ns)
        if self._disk_hangs and self._own_writes is not None:
            await self._own_writes.over()
            self._own_writes.slow = True

    # --- procedures --------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Runs from the lock to the end of the tenure."""
        self._tenure.spawn(self._watch_own_disk(), "own disk")
        try:
            await self.take_over()
        except LostLock as lost:
            self.stand_down(str(lost))
        except TakeoverStopped as stopped:
            await self._give_up(str(stopped))
        except CoordinationError as error:
            await self._give_up(f"{type(error).__name__} while taking over: {error}")

    async def _give_up(self, reason: str) -> None:
        """Releases the lock so that the next holder need not wait: no answer is sent from here on."""
        self.lease.end()
        try:
            await self._server.view.release_lock()
        except CoordinationError:
            pass
        self.stand_down(reason)

    async def _give_way(
        self,
        out_of_reach: Callable[[], list[str]],
        takes_in: Callable[[], bool],
    ) -> None:
        """Watches, without end, for too few counting members, and releases the lock after a session time-out of these. It does so only when
        servers with a place in the view could continue alone, and some of them will never count here.

        The fault may be in this server's own links. While it renews its session no other server would try (safety rule 17). `out_of_reach`:
        members of the last configuration while too few count, else none; `takes_in`: whether a server that sends messages comes to count now.
        """
        server = self._server
        if server.config.cluster.mutations.cut_off_leader_stays:
            return
        clock, pause_ns = server.world.clock, server.world.coordination.session_timeout_ns // LOOKS
        found = 0
        while True:
            await clock.sleep(pause_ns)
            if not out_of_reach():
                found, self._reached_ns = 0, clock.monotonic_ns()
                continue
            try:
                places = await server.view.places()
            except CoordinationError:
                continue
            there = self._who_could_go_on(out_of_reach(), places)
            lost = [name for name in there if not takes_in() or not self._comes_to_count(name)]
            found = found + 1 if lost else 0
            if found > LOOKS:
                self.skip_next_election = True
                await self._give_up(f"{', '.join(lost)} of {', '.join(there)} are there and do not count")

    def _who_could_go_on(self, members: list[str], places: dict[str, ServerPlace]) -> list[str]:
        """The other members that are there, if they could serve without this server, else none."""
        name = self._server.world.name
        others = [other for other in members if other != name]
        there = [other for other in others if other in places]
        spares = len(places.keys() - {name, *others})
        enough = bool(there) and self._could_go_on(len(there), len(members), spares)
        return there if enough and any(self._may_lead(places[other]) for other in there) else []

    async def _watch_own_disk(self) -> None:
        """Releases the lock when a round of writing here has not ended for a session time-out, and the others could serve without this server.

        A disk that hangs stops no heartbeat, so that no other server would try. While this server serves, only members whose disks are ahead of its
        own count: where all disks are slow, a slow leader is better than takeovers that never end. Where members do not acknowledge, it can only
        remember that it gave the lock away for a disk that did work: then it is patient.
        """
        server, rounds = self._server, self._own_writes
        if rounds is None:
            return
        pause_ns = server.world.coordination.session_timeout_ns // LOOKS
        found = ended = 0
        while True:
            await server.world.clock.sleep(pause_ns)
            hangs = rounds.busy and rounds.ended == ended
            found, ended = found + 1 if hangs else 0, rounds.ended
            patient = self._patient and self._ahead_of_own is None
            if found <= (LOOKS * ASKING if patient else LOOKS):
                continue
            try:
                places = await server.view.places()
                configuration, _ = await server.view.configuration()
            except CoordinationError:
                continue
            members = configuration.members
            if self.serving and self._ahead_of_own is not None:
                slow = {*members} - {*self._ahead_of_own()}
                places = {name: place for name, place in places.items() if name not in slow}
            if rounds.ended == ended and self._who_could_go_on(members, places):
                self._disk_hangs = True
                await self._give_up("its disk has ended no write for a session time-out")

    def _comes_to_count(self, name: str) -> bool:
        """The member sends messages, and has not sent only questions for long. A member that receives nothing from this server sends questions,
        too."""
        world = self._server.world
        now, session_ns = world.clock.monotonic_ns(), world.coordination.session_timeout_ns
        answered_ns = max(self._answered_ns.get(name, 0), self._reached_ns)
        return now - self._received_ns.get(name, 0) <= session_ns and now - answered_ns <= ASKING * session_ns

    def _confirm_lease(self) -> None:
        """Confirms the lease from here on, once per heartbeat, by a write of its own, which is the heartbeat (CFS §5.4; safety rule 16)."""
        heartbeat_ns = self._server.config.cluster.timing.heartbeat_ms * MILLISECOND
        pause_ns = min(heartbeat_ns, self.lease.held_ns * 2 // 3)
        self._tenure.spawn(self._heartbeat(pause_ns), "heartbeat")
        self._tenure.spawn(self.lease.watch(self.epoch, pause_ns), "lease")

    async def _heartbeat(self, pause_ns: int) -> None:
        clock = self._server.world.clock
        while True:
            sent_ns = clock.monotonic_ns()
            try:
                await self._confirm_lock()
            except LostLock as lost:
                self.stand_down(str(lost))
                return
            except (ViewMoved, CoordinationError):
                await clock.sleep(pause_ns // 10)
                continue
            self.lease.confirmed(sent_ns)
            self._confirm_now.clear()
            await wait_at_most(clock, self._confirm_now, pause_ns)

    async def _confirm_lock(self) -> None:
        """Confirms the lock. Raises LostLock; ViewMoved or CoordinationError when nothing is confirmed for now."""
        server = self._server
        if server.config.cluster.mutations.heartbeat_by_follower_read:
            node, _ = await server.view.epoch()
            if self.on_begun(node.epoch):
                raise LostLock("a later epoch has begun")
        else:
            await server.view.confirm_lock()


async def write_epoch(server: ViewServer, begin: Callable[[EpochNode], int], leads: str, led: str) -> None:
    """One guarded transaction: writes the epoch that `begin` makes of the last one, and gives this server the role `leads` and the previous
    leader the role `led`. Raises LostLock."""
    view, name, epoch = server.view, server.world.name, 0
    while True:
        node, version = await view.epoch()
        if epoch and (node.epoch, node.active) == (epoch, name):
            return
        epoch, places = begin(node), await view.places()
        disk = places[name].disk if name in places else 0
        changes: list[Change] = [
            view.epoch_change(epoch, version),
            view.place_change(name, ServerPlace(leads, epoch, server.last.sn, disk)),
        ]
        for other, place in places.items():
            if other != name and place.state == leads:
                changes.append(view.place_change(other, ServerPlace(led, epoch, place.sn, place.disk)))
        try:
            await view.guarded(changes)
            return
        except (ViewMoved, ConnectionLoss):
            await server.world.clock.sleep(LOOK_NS)


async def may_answer(server: ViewServer) -> list[str]:
    """Earlier holders of the lock that are not known to have stopped. The end of a session proves nothing (safety rule 16)."""
    names = server.view.confirmations.unstopped()
    if server.config.cluster.mutations.session_ended_early:
        places = await server.view.places()
        names = [name for name in names if name in places]
    return names


def lease_over_ns(server: ViewServer, holder: str) -> int:
    """Time when the lease of an earlier holder has surely run out, counted from the first sighting here of its newest confirmation."""
    seen = server.view.confirmations.sighting(holder)
    session_ns = server.world.coordination.session_timeout_ns
    term = lock_term(session_ns, server.config.cluster.mutations)
    return 0 if seen is None else seen.at_ns + term.outlived_ns


async def wait_out_old_leases(
    server: ViewServer,
    unsure: Callable[[list[str]], list[str]] = lambda others: others,
    grants_end_ns: Callable[[], int] = lambda: NEVER_NS,
) -> None:
    """Waits, under this server's epoch, until every earlier holder of the lock has stopped or its lease has surely run out (safety rule 16).

    `unsure`: the holders among them that have not promised this epoch. `grants_end_ns`: time when none of them can have the grants of a write quorum
    (safety rule 26). The wait is at most a session time-out. Raises CoordinationError.
    """
    clock, confirmations = server.world.clock, server.view.confirmations
    await confirmations.look_around(clock)
    while True:
        names = unsure(await may_answer(server))
        over_ns = max([lease_over_ns(server, name) for name in names], default=0)
        left_ns = min(over_ns, grants_end_ns()) - clock.monotonic_ns()
        if left_ns <= 0:
            return
        await clock.sleep(min(left_ns, LOOK_NS))


async def guard_lock(following: ViewWatcher, leader: Leader, clock: Clock) -> None:
    """The leader's watchers of its place, the epoch and the lock. Losing any of them ends the tenure."""
    while True:
        try:
            seen = await following.look()
        except CoordinationError:
            await clock.sleep(RETRY_NS)
            continue
        if not following.ours(seen):
            leader.stand_down("the lock is lost")
        elif leader.epoch:
            leader.on_begun(following.epoch)
        if seen.place is None:
            leader.stand_down("the view has no place for this server any more")
        elif leader.serving and seen.place.state not in LEADING:
            leader.stand_down(f"the view says {seen.place.state}")
        await following.changed()
