"""One tenure of a holder of the lock, as far as all families have it alike: lease, guard, end (CFS §4.2; safety rules 16 and 17)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar

from nodes.config import MILLISECOND
from nodes.replicas.following import Following, Server
from nodes.replicas.lease import Lease, lock_term
from nodes.replicas.view import EpochNode, LostLock, Place, ViewMoved
from nodes.roles import LEADING
from nodes.scope import Tenure
from nodes.trace.events import RoleChanged, Serving, StoppedServing
from nodes.wire.messages import Mark
from nodes.world import Change, Clock, ConnectionLoss, CoordinationError

LOOK_NS = 10 * MILLISECOND
RETRY_NS = 100 * MILLISECOND
LOOKS = 4
"""Per session time-out, at members that do not answer."""
ASKING = 4
"""Session time-outs for which a member that asks but answers nothing may still come to count: its disk may be slow."""


class Leader:
    """From the lock to the end. `ended` is told once."""

    WORD: ClassVar[str] = "epoch"
    """What the family calls the number of a tenure."""

    def __init__(self, server: Server, tenure: Tenure, ended: Callable[[], None]):
        self._server = server
        self._tenure = tenure
        self._ended = ended
        self.lease = Lease(server.world, server.config.cluster)
        self._confirm_now = asyncio.Event()
        self.serving = False
        self.sits_out = False
        """Too few answer: this server leaves the next round to the others (safety rule 17)."""
        self._heard_ns: dict[str, int] = {}
        """When a message of each of the others came last."""
        self._reached_ns = server.world.clock.monotonic_ns()
        """When enough of them counted last, or this tenure began."""
        self._answered_ns: dict[str, int] = {}
        """When one that answers what was sent from here did: so both ways are whole."""

    @property
    def epoch(self) -> int:
        """0 before it is known."""
        raise NotImplementedError

    def _end(self) -> None:
        """Takes back what is ahead of commit, and sends those who wait elsewhere."""
        raise NotImplementedError

    async def run(self) -> None:
        raise NotImplementedError

    # --- steps -------------------------------------------------------------------------------------------------

    def hear(self, peer: str, answers: bool) -> None:
        """A message of this server has come."""
        self._heard_ns[peer] = self._server.world.clock.monotonic_ns()
        if answers:
            self._answered_ns[peer] = self._heard_ns[peer]

    def stand_down(self, reason: str) -> None:
        """Ends the tenure at once: nothing is answered from here on (CFS §4.2.2, Fig. 5a)."""
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
        """The connection to coordination is there again: what its loss suspended is confirmed now, not with the next heartbeat."""
        self._confirm_now.set()

    def on_begun(self, epoch: int) -> bool:
        """A later epoch has begun: one of an earlier serves no more. Whether that is so."""
        earlier = 0 < self.epoch < epoch
        if earlier:
            self.stand_down(f"{self.WORD} {epoch} has begun")
        return earlier

    def _could_go_on(self, there: int, size: int, spares: int) -> bool:
        """Whether so many members of a configuration of this size could serve without this server; `spares` could become members."""
        return 2 * there > size

    def _role(self, role: str, reason: str) -> None:
        server = self._server
        server.world.trace.emit(RoleChanged(server.group.name, role, self.epoch, server.last.sn, reason))

    def _serves(self, role: str, reason: str, mark: Mark) -> None:
        self._role(role, reason)
        self._server.world.trace.emit(Serving(self._server.group.name, self.epoch, mark.sn, mark.crc))
        self.serving = True

    # --- procedures --------------------------------------------------------------------------------------------

    async def _give_up(self, reason: str) -> None:
        """Lets another take the lock, who need not wait: nothing is answered from here on."""
        self.lease.end()
        try:
            await self._server.view.release_lock()
        except CoordinationError:
            pass
        self.stand_down(reason)

    async def _give_way(
        self,
        out_of_reach: Callable[[], list[str]],
        may_lead: Callable[[Place], bool],
        takes_in: Callable[[], bool],
    ) -> None:
        """For ever: leaves the lock to the others when too few of them count for a session's time, though those that the view has places of could
        go on alone, and some of these will never count here.

        What is broken may be this server's own way to them; as long as it renews its session nobody else would try (safety rule 17).
        `out_of_reach`: the members of the last configuration while too few count, else none; `may_lead`: by its place, who could;
        `takes_in`: whether who is heard of comes to count now.
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
            members = out_of_reach()
            others = [name for name in members if name != server.world.name]
            there = [name for name in others if name in places]
            spares = len(places.keys() - {server.world.name, *others})
            enough = bool(others) and self._could_go_on(len(there), len(members), spares)
            led = enough and any(may_lead(places[name]) for name in there)
            lost = [name for name in there if not takes_in() or not self._comes_to_count(name)]
            found = found + 1 if led and lost else 0
            if found > LOOKS:
                self.sits_out = True
                await self._give_up(f"{', '.join(lost)} of {', '.join(there)} are there and do not count")

    def _comes_to_count(self, name: str) -> bool:
        """It is heard, and not for long only with questions, which come from who hears nothing of this server, too."""
        world = self._server.world
        now, session_ns = world.clock.monotonic_ns(), world.coordination.session_timeout_ns
        answered_ns = max(self._answered_ns.get(name, 0), self._reached_ns)
        return now - self._heard_ns.get(name, 0) <= session_ns and now - answered_ns <= ASKING * session_ns

    def _confirm_lease(self) -> None:
        """From here on, once per heartbeat, by a write of its own, which is the heartbeat (CFS §5.4; safety rule 16)."""
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
            timer = clock.call_later(pause_ns, self._confirm_now.set)
            await self._confirm_now.wait()
            timer.cancel()

    async def _confirm_lock(self) -> None:
        """Raises LostLock; ViewMoved or CoordinationError when nothing is confirmed for now."""
        server = self._server
        if server.config.cluster.mutations.heartbeat_by_follower_read:
            node, _ = await server.view.epoch()
            if self.on_begun(node.epoch):
                raise LostLock("a later epoch has begun")
        else:
            await server.view.confirm_lock()


async def write_epoch(server: Server, begin: Callable[[EpochNode], int], leads: str, led: str) -> None:
    """One guarded transaction: the epoch that `begin` makes of the last one, ourselves `leads`, who led before `led`. Raises LostLock."""
    view, name, epoch = server.view, server.world.name, 0
    while True:
        node, version = await view.epoch()
        if epoch and (node.epoch, node.active) == (epoch, name):
            return
        epoch = begin(node)
        changes: list[Change] = [
            view.epoch_change(epoch, version),
            view.place_change(name, Place(leads, epoch, server.last.sn)),
        ]
        for other, place in (await view.places()).items():
            if other != name and place.state == leads:
                changes.append(view.place_change(other, Place(led, epoch, place.sn)))
        try:
            await view.guarded(changes)
            return
        except (ViewMoved, ConnectionLoss):
            await server.world.clock.sleep(LOOK_NS)


async def may_answer(server: Server) -> list[str]:
    """Who held the lock before us and is not known to have stopped. That its session has ended proves nothing (safety rule 16)."""
    names = server.view.confirmations.unstopped()
    if server.config.cluster.mutations.session_ended_early:
        places = await server.view.places()
        names = [name for name in names if name in places]
    return names


def lease_over_ns(server: Server, holder: str) -> int:
    """When the lease of who held the lock has surely run out: counted from when the newest version of its confirmation was first seen here."""
    seen = server.view.confirmations.sighting(holder)
    session_ns = server.world.coordination.session_timeout_ns
    term = lock_term(session_ns, server.config.cluster.mutations)
    return 0 if seen is None else seen.at_ns + term.outlived_ns


async def outlive_holders(
    server: Server, unsure: Callable[[list[str]], list[str]] = lambda others: others
) -> None:
    """Waits, under our epoch, until nobody who held the lock before answers: it has stopped, or its lease has surely run out (safety rule 16).

    `unsure`: who of them has not promised our epoch. After a session's time-out there is nothing left to wait for. Raises CoordinationError.
    """
    clock, confirmations = server.world.clock, server.view.confirmations
    await confirmations.look_around(clock)
    while True:
        names = unsure(await may_answer(server))
        left_ns = max([lease_over_ns(server, name) for name in names], default=0) - clock.monotonic_ns()
        if left_ns <= 0:
            return
        await clock.sleep(min(left_ns, LOOK_NS))


async def guard_lock(following: Following, leader: Leader, clock: Clock) -> None:
    """The leader's watchers: its place, the epoch, the lock; losing any of them ends the tenure."""
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
