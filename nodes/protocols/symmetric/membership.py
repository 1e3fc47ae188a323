"""One server's membership in the primary view: its joining, the view changes and its exclusion (SAA §3, SAA §5.3, SAA §6).

One loop compares the agreed view with this server's state. It installs a view that contains this server and leaves one that does not. It changes
the view when members are gone or servers want to join.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.config import MILLISECOND
from nodes.protocols.symmetric.addresses import Addresses
from nodes.protocols.symmetric.agreement import JOINING, MEMBER, Agreed
from nodes.protocols.symmetric.catch_up import STEP_NS, Closer
from nodes.protocols.symmetric.flush import Settling
from nodes.protocols.symmetric.images import BeginningFromImage
from nodes.protocols.symmetric.member import ViewMember
from nodes.protocols.symmetric.messages import Installed, JoinView, Leaving, Welcome
from nodes.protocols.symmetric.outsiders import Invitations, Outsiders
from nodes.protocols.symmetric.replica import SymmetricReplica
from nodes.protocols.symmetric.requests import Requests
from nodes.protocols.symmetric.service import ViewService
from nodes.protocols.symmetric.view_change import Abandoned, Outrun, ViewChange
from nodes.protocols.symmetric.wanted_change import (
    WantedChange,
    change_of_forced,
    change_of_member,
    change_of_restarted,
    may_revive,
)
from nodes.replicas.view import OneShotWatch
from nodes.trace.events import RoleChanged, Serving, StoppedServing, Warned
from nodes.wake import Wake
from nodes.world import CoordinationError

LOOK_NS = 20 * MILLISECOND
RETRY_NS = 100 * MILLISECOND
ATTEMPT_STEPS = 2
"""Number of steps of a view change after which another server makes the next attempt."""
PARTED_LEASES = 3
"""Number of leases after which a member without the coordination service counts as unable to change the view."""


class Membership:
    """This server's membership, its view, and the servers outside the view that it knows."""

    def __init__(self, replica: SymmetricReplica, requests: Requests, stop_snapshot: Callable[[], None]):
        """`stop_snapshot` stops an image in progress on this server."""
        self._replica = replica
        self._world = world = replica.world
        self._group = replica.group
        self._agreement = replica.agreement
        self._requests = requests
        self._begins_after_promise = replica.config.cluster.mutations.begins_after_promise
        self.lease_ns = replica.config.cluster.timing.ack_timeout_ms * MILLISECOND
        self._step_ns = max(self.lease_ns, STEP_NS)
        """Time that a step of a view change may take. Attempts that overtake each other earlier would all fail."""
        self.member: ViewMember | None = None
        self.service: ViewService | None = None
        """The service of this server while it is a member."""
        self.settling = Settling(replica, lambda: self.member, self._stop_imaging)
        self.images = BeginningFromImage(replica, self.settling, lambda: self.member, self._stop_imaging)
        self._stop_snapshot = stop_snapshot
        self._outside = Outsiders(self.lease_ns)
        self._watch = OneShotWatch(self._look_again)
        self._outdated = True
        self._look = Wake()
        self.prepared = False
        self._role = ""
        self._place: tuple[str, int] = ("", 0)
        self.addresses = Addresses(replica, self._look.set)
        self._since_ns = world.clock.monotonic_ns()
        """Time at which this server last stopped being a member, or reached the coordination service again."""
        self._parted_ns: int | None = None
        """Time at which it lost contact with the coordination service; None while it has it."""
        self._changing_since: tuple[int, int] = (0, 0)
        """The newest attempt and the time at which this server first read it."""
        self._wanted_since: int | None = None
        self._invitations = Invitations(self._step_ns)
        self._closer = Closer(replica, self._step_ns)
        self._asked = False
        """Whether an operator wants a new view."""
        self.forcing = replica.common.forcing

    def _now_ns(self) -> int:
        return self._world.clock.monotonic_ns()

    # --- coordination -----------------------------------------------------------------------------------------------------

    def on_state(self, state: str) -> None:
        """Renews watches and place after a change of the session. The session fences no member; the leases of the members do."""
        if state == "connected":
            self._parted_ns, self._since_ns = None, self._now_ns()
            self._watch.forget()
            self._agreement.forget_watches()
            self.addresses.outdated = True
            self._look_again()
        elif self._parted_ns is None:
            self._parted_ns = self._now_ns()
        if state == "lost":
            self._place = ("", 0)

    def _look_again(self) -> None:
        self._outdated = True
        self._look.set()

    def _stop_imaging(self) -> None:
        self._stop_snapshot()
        if self.service is not None:
            self.service.stop_imaging()

    # --- outside --------------------------------------------------------------------------------------------------------

    @property
    def view_number(self) -> int:
        """The number of the newest view that this server knows."""
        return self._agreement.agreed.number

    def hint(self) -> str:
        """Another server that may be a member."""
        return next((name for name in self._agreement.agreed.members if name != self._world.name), "")

    def _joining(self) -> dict[str, JoinView]:
        return self._outside.joining(self.view_number, self._now_ns())

    def on_installed(self, peer: str, message: Installed) -> None:
        if message.view > self.view_number:
            self._look_again()

    def on_join(self, peer: str, message: JoinView) -> None:
        if message.view < self.view_number:
            self._world.network.send(peer, Installed(self.view_number))
        elif message.view > self.view_number:
            self._look_again()
        elif message.rules != self._replica.rules:
            reported = f"joins with {message.rules}; here it is {self._replica.rules}"
            self._replica.ignoring.report(peer, message, reported)
        else:
            self._outside.on_join(peer, message, self._now_ns())
            member = self.member is not None and self.member.view.number == message.view
            # Servers that have restarted wait for a living member, which must be able to take them in.
            parted_ns = self._now_ns() - self._parted_ns if self._parted_ns is not None else 0
            member = member and parted_ns <= PARTED_LEASES * self.lease_ns
            log = self._replica.log
            leads_on = log.agrees_up_to(message.tails) is not None
            self._world.network.send(peer, Welcome(message.view, member, leads_on, log.base.sn))

    def on_welcome(self, peer: str, message: Welcome) -> None:
        self._outside.on_welcome(peer, message, self._now_ns())
        self.images.on_welcome(peer, message)

    def on_leaving(self, peer: str, message: Leaving) -> None:
        """A member that stops on purpose counts as gone at once."""
        if self.member is not None:
            self.member.on_leaving(peer, message)
            self._look.set()

    def say_goodbye(self) -> None:
        """Announces that this server stops, so that no member waits until it is silent."""
        if self.member is not None:
            self._requests.refuse_all(self.hint())
            self.member.say_goodbye()

    def tick(self) -> None:
        """Runs every fifth of a lease: a member greets the others, and any other server asks to join."""
        if self.member is not None:
            if self.service is not None:
                self.service.look_at_log(self._joining())
            self.member.tick()
        elif self.prepared:
            now_ns = self._now_ns()
            hears = self._outside.hears(now_ns) if self._invitations.wanted(now_ns) else []
            tails = self._replica.log.tails()
            join = JoinView(self.view_number, tails, hears, self._replica.rules, self._replica.disk)
            for name in sorted({*self._group.members, *self._agreement.agreed.members} - {self._world.name}):
                self._world.network.send(name, join)

    # --- views --------------------------------------------------------------------------------------------------------

    async def follow(self) -> None:
        """Follows the agreed view while the server runs and is connected to the coordination service."""
        while True:
            try:
                if self._world.coordination.state == "connected":
                    await self._once()
            except CoordinationError as error:
                self._outdated = self.addresses.outdated = True
                reported = f"the view could not be read or changed: {type(error).__name__} {error}".strip()
                self._world.trace.emit(Warned(reported))
                await self._world.clock.sleep(RETRY_NS)
                continue
            timer = self._world.clock.call_later(LOOK_NS, self._look.set)
            await self._look.wait()
            timer.cancel()

    async def _once(self) -> None:
        if not self.prepared:
            await self._agreement.prepare(self._group.members, self._world.network.address)
            self.prepared = True
        if self._outdated:
            self._outdated = False
            self._on_agreed(await self._agreement.read(self._watch))
        await self.addresses.keep_up()
        wanted = self._change_wanted()
        if wanted is not None:
            await self._change(wanted)
        await self._take_place()

    async def _take_place(self) -> None:
        state = MEMBER if self.member is not None else JOINING
        place = (state, self.view_number)
        if place != self._place:
            await self._agreement.take_place(state, self.view_number, self._replica.log.last.sn)
            self._place = place

    def _on_agreed(self, agreed: Agreed) -> None:
        """Acts on a newly read agreed view."""
        self.settling.promised = max(self.settling.promised, agreed.attempt)
        self.settling.ready = True
        if agreed.changing and agreed.attempt != self._changing_since[0]:
            self._changing_since = (agreed.attempt, self._now_ns())
        member = self.member
        if member is not None and member.view.number == agreed.number:
            return
        if agreed.number and agreed.number == self.settling.settled and is_named(self._replica, agreed):
            self._install(agreed)
        else:
            if member is not None:
                self._fall_out(f"view {agreed.number} is without this server")
            if agreed.number == self.settling.flushed:
                self._invitations.came_to_nothing(agreed.number, self._now_ns())
        self._believe()

    def _install(self, agreed: Agreed) -> None:
        """Begins a view. This server's journal ends where the view begins, and so does every other member's."""
        self._stop_imaging()
        if self.member is not None:
            self.member.leave()
        replica = self._replica
        self._outside.forget()
        self._asked = False
        self._invitations = Invitations(self._step_ns)
        self.forcing.end("done", f"serves in view {agreed.number}: {' '.join(agreed.members)}")
        self._requests.view = agreed.number
        member = self.member = ViewMember(replica, agreed, self._requests, lambda: list(self._joining()))
        if self.settling.promised > agreed.number and not self._begins_after_promise:
            member.wedge(agreed.start)
        self.service = ViewService(replica, member, self._requests)
        self._believe()
        start = agreed.start
        self._world.trace.emit(Serving(self._group.name, agreed.number, start.sn, start.crc, agreed.members))
        for sn, outcomes in replica.show(start.sn, agreed.members):
            self._requests.on_shown(sn, outcomes)
        self._requests.begin(agreed.number)
        member.start()

    def _fall_out(self, reason: str) -> None:
        assert self.member is not None
        number = self.member.view.number
        self._stop_imaging()
        self.member.leave()
        self.member = self.service = None
        self._asked = False
        self._since_ns = self._now_ns()
        self._outside.forget()
        self._world.trace.emit(StoppedServing(self._group.name, number, reason))
        self._requests.refuse_all(self.hint())

    def _believe(self) -> None:
        role = MEMBER if self.member is not None else JOINING
        if role != self._role:
            self._role = role
            reason = f"view {self.view_number}: {' '.join(self._agreement.agreed.members)}"
            self._world.trace.emit(
                RoleChanged(self._group.name, role, self.view_number, self._replica.log.last.sn, reason)
            )

    # --- changing the view ----------------------------------------------------------------------------------------------

    def ask_for_change(self) -> bool:
        """Requests a new view at this server's next turn, without another reason. Returns False when this server is no member."""
        self._asked = self.member is not None
        self._look.set()
        return self._asked

    def force(self) -> dict[str, Any]:
        """Orders the next view from the members present, however few. `refused` is empty when the order stands."""
        agreed = self._agreement.agreed
        if self._world.name not in agreed.members:
            reported = f"{self._world.name} was not in view {agreed.number}: force one of {', '.join(agreed.members)}"
            return {"refused": reported}
        return self.forcing.order(agreed.number, self._replica.log.last.sn)

    def _change_wanted(self) -> WantedChange | None:
        """The change that this server wants now. Members before it in the view go first."""
        agreed, now_ns = self._agreement.agreed, self._now_ns()
        attempt, since_ns = self._changing_since
        under_way = agreed.changing and attempt == agreed.attempt
        others = under_way and agreed.proposer != self._world.name
        if others and now_ns - since_ns < ATTEMPT_STEPS * self._step_ns:
            return None
        # A living member would have made the next attempt by now, unless its disk is stalled. This one may be of an earlier life of this server.
        in_vain = under_way and now_ns - since_ns >= 2 * ATTEMPT_STEPS * self._step_ns
        joining = self._joining()
        if self.forcing.stands:
            return change_of_forced(agreed, self._world.name, self.member, joining)
        if self.member is not None:
            wanted = change_of_member(self.member, self._replica, joining, agreed.changing, self._asked)
            if wanted.far:
                name = wanted.far[0]
                self._closer.begin(name, joining[name], self.view_number, wanted.turn)
        elif may_revive(agreed, self._replica) and (
            in_vain or not self._outside.view_lives(agreed.number, now_ns)
        ):
            waited = now_ns - self._since_ns > 3 * self.lease_ns
            wanted = change_of_restarted(agreed, self._replica, joining, waited)
        else:
            wanted = None
        if wanted is None or not wanted.changes:
            # While writes go on, a joiner that catches up is near for moments only. This server's turn comes in one of them.
            if wanted is None or not wanted.far:
                self._wanted_since = None
            return None
        if self._wanted_since is None:
            self._wanted_since = now_ns
        delay_ns = wanted.turn * self.lease_ns // 10 + (self.lease_ns if wanted.minority else 0)
        return wanted if now_ns - self._wanted_since >= delay_ns else None

    async def _change(self, wanted: WantedChange) -> None:
        self._wanted_since = None
        self._outdated = True
        try:
            change = ViewChange(self._replica, self.settling, self.forcing)
            installed = await change.run(wanted.reason, wanted.invited)
        except Outrun:
            return
        except Abandoned:
            await self._world.clock.sleep(self._world.rng.randrange(RETRY_NS))
            return
        self._on_agreed(installed)
        for name in wanted.invited:
            if name != self._world.name:
                self._world.network.send(name, Installed(installed.number))


def is_named(replica: SymmetricReplica, agreed: Agreed) -> bool:
    """Whether this server is a member of the view with the disk that it has, and with the journal from which the view begins. An earlier life may
    have been flushed in its place."""
    name, mutations = replica.name, replica.config.cluster.mutations
    same_disk = agreed.instances.get(name) == replica.disk.instance or mutations.settled_by_other_disk
    whole = replica.log.holds(agreed.start) or mutations.emptied_after_settling
    return name in agreed.members and same_disk and whole
