"""One server's way into the primary view, through its changes, and out of it (SAA §3, §5.3, §6).

One loop compares what everybody has agreed on with what this server is and hears: it installs a view that it is in, falls out of one that it
is not in, and changes the view when members are gone or servers want to join.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from nodes.config import MILLISECOND
from nodes.metadata_server.forcing import Forcing
from nodes.protocols.symmetric.agreement import JOINING, MEMBER, Agreed, Forced
from nodes.protocols.symmetric.bringing import bring
from nodes.protocols.symmetric.change_wanted import Wanted, change_of_member, change_of_restarted
from nodes.protocols.symmetric.member import Member
from nodes.protocols.symmetric.messages import Installed, JoinView, Leaving, Welcome
from nodes.protocols.symmetric.outside import Outside
from nodes.protocols.symmetric.replica import Replica
from nodes.protocols.symmetric.requests import Requests
from nodes.protocols.symmetric.settling import Settling
from nodes.protocols.symmetric.view_change import ViewChange
from nodes.replicas.view import Watch
from nodes.trace.events import RoleChanged, Serving, StoppedServing, Warned
from nodes.wake import Wake
from nodes.wire.messages import Mark, Message
from nodes.world import CoordinationError

LOOK_NS = 20 * MILLISECOND
RETRY_NS = 100 * MILLISECOND
REGISTERED_NS = 500 * MILLISECOND
"""How long after one look at the addresses of servers the next one comes at the earliest."""

Step = Callable[[str, Any], None]


class Membership:
    """Whether this server is a member, of which view, and what it knows of those who are not."""

    def __init__(self, replica: Replica, requests: Requests, on_appended: Callable[[], None]):
        self._replica = replica
        self._world = world = replica.world
        self._group = replica.group
        self._agreement = replica.agreement
        self._requests = requests
        self._on_appended = on_appended
        self._begins_after_promise = replica.config.cluster.mutations.begins_after_promise
        self.lease_ns = replica.config.cluster.timing.ack_timeout_ms * MILLISECOND
        self.member: Member | None = None
        self.settling = Settling(replica, lambda: self.member)
        self._outside = Outside(self.lease_ns)
        self._watch = Watch(self._look_again)
        self._outdated = True
        self._look = Wake()
        self.prepared = False
        self._role = ""
        self._place: tuple[str, int] = ("", 0)
        self.addresses: dict[str, str] = {}
        self._looked_ns = -REGISTERED_NS
        self._registered = True
        """A server may have registered, or listens elsewhere, since this one looked last."""
        self._since_ns = world.clock.monotonic_ns()
        """When this server last stopped being a member."""
        self._changing_since: tuple[int, int] = (0, 0)
        """The newest attempt of others, and when it was seen."""
        self._wanted_since: int | None = None
        self._bringing = False
        self._asked = False
        """A person wants a new view."""
        self.forcing = Forcing(world, replica.config.cluster.mutations.floor_without_way_back)

    def _now_ns(self) -> int:
        return self._world.clock.monotonic_ns()

    def on_state(self, state: str) -> None:
        """The session only keeps this server's place and watch: members fence each other by their leases."""
        if state == "connected":
            self._watch.forget()
            self._agreement.forget_watches()
            self._registered = True
            self._look_again()
        elif state == "lost":
            self._place = ("", 0)

    def _look_again(self) -> None:
        self._outdated = True
        self._look.set()

    # --- outside --------------------------------------------------------------------------------------------------------

    @property
    def view_number(self) -> int:
        """Of the newest view that this server knows of."""
        return self._agreement.agreed.number

    def hint(self) -> str:
        """Another server that may be a member."""
        return next((name for name in self._agreement.agreed.members if name != self._world.name), "")

    def _joining(self) -> dict[str, JoinView]:
        return self._outside.joining(self.view_number, self._now_ns())

    def of_the_group(self, step: Step) -> Step:
        """A step that only servers of the group may ask for; a new one is registered before it says anything."""

        def deliver(peer: str, message: Message) -> None:
            if (
                peer in self.addresses
                or peer in self._group.members
                or peer in self._agreement.agreed.members
            ):
                step(peer, message)
            else:
                self._registered = True
                told = f"not registered as a server of {self._group.name} when this one looked last"
                self._replica.ignoring.tell(peer, message, told)

        return deliver

    def on_installed(self, peer: str, message: Installed) -> None:
        if message.view > self.view_number:
            self._look_again()

    def on_join(self, peer: str, message: JoinView) -> None:
        if message.view < self.view_number:
            self._world.network.send(peer, Installed(self.view_number))
        elif message.view > self.view_number:
            self._look_again()
        elif message.rules != self._replica.rules:
            told = f"joins with {message.rules}; here it is {self._replica.rules}"
            self._replica.ignoring.tell(peer, message, told)
        else:
            self._outside.on_join(peer, message, self._now_ns())
            member = self.member is not None and self.member.view.number == message.view
            self._world.network.send(peer, Welcome(message.view, member))

    def on_welcome(self, peer: str, message: Welcome) -> None:
        self._outside.on_welcome(peer, message, self._now_ns())

    def on_leaving(self, peer: str, message: Leaving) -> None:
        """A member that is stopped on purpose is gone at once."""
        if self.member is not None:
            self.member.on_leaving(peer, message)
            self._look.set()

    def say_goodbye(self) -> None:
        """This server stops: its last words, so that nobody waits until it is silent."""
        if self.member is not None:
            self._requests.refuse_all(self.hint())
            self.member.say_goodbye()

    def tick(self) -> None:
        """Every fifth of a lease: a member greets the others, any other server asks to join."""
        if self.member is not None:
            self.member.tick()
        elif self.prepared:
            hears = self._outside.hears(self._now_ns())
            disk, tails = self._replica.own_disk, self._replica.log.tails()
            join = JoinView(self.view_number, tails, hears, self._replica.rules, disk.identity, disk.doubtful)
            for name in sorted({*self._group.members, *self._agreement.agreed.members} - {self._world.name}):
                self._world.network.send(name, join)

    # --- views --------------------------------------------------------------------------------------------------------

    async def follow(self) -> None:
        """For as long as the server runs, and is connected to the coordination service."""
        while True:
            try:
                if self._world.coordination.state == "connected":
                    await self._once()
            except CoordinationError as error:
                self._outdated = self._registered = True
                told = f"the view could not be read or changed: {type(error).__name__}"
                self._world.trace.emit(Warned(told))
                await self._world.clock.sleep(RETRY_NS)
                continue
            timer = self._world.clock.call_later(LOOK_NS, self._look.set)
            await self._look.wait()
            timer.cancel()

    async def _once(self) -> None:
        if not self.prepared:
            await self._replica.own_disk.seal()
            await self._replica.log.sync()
            await self._agreement.prepare(self._group.members, self._world.network.address)
            self.prepared = True
        if self._outdated:
            self._outdated = False
            self._on_agreed(await self._agreement.read(self._watch))
        await self._know()
        wanted = self._change_wanted()
        if wanted is not None:
            await self._change(wanted)
        await self._take_place()

    async def _know(self) -> None:
        """Where the servers of the group listen: asked once, and again when one has registered, or one that speaks is not known."""
        now_ns = self._now_ns()
        if not self._registered or now_ns - self._looked_ns < REGISTERED_NS:
            return
        self._looked_ns, self._registered = now_ns, False
        for server, address in (await self._agreement.addresses(self._on_registered)).items():
            if self.addresses.get(server) != address and server != self._world.name:
                self.addresses[server] = address
                self._world.network.know(server, address)

    def _on_registered(self) -> None:
        self._registered = True
        self._look.set()

    async def _take_place(self) -> None:
        state = MEMBER if self.member is not None else JOINING
        place = (state, self.view_number)
        if place != self._place:
            await self._agreement.take_place(state, self.view_number, self._replica.log.last.sn)
            self._place = place

    def _on_agreed(self, agreed: Agreed) -> None:
        """What is agreed was read anew."""
        self.settling.promised = max(self.settling.promised, agreed.attempt)
        self.settling.ready = True
        if agreed.changing and agreed.attempt != self._changing_since[0]:
            self._changing_since = (agreed.attempt, self._now_ns())
        member = self.member
        if member is not None and member.view.number == agreed.number:
            return
        if agreed.number and agreed.number == self.settling.settled and self._world.name in agreed.members:
            self._install(agreed)
        elif member is not None:
            self._fall_out(f"view {agreed.number} is without this server")
        self._believe()

    def _install(self, agreed: Agreed) -> None:
        """This server's journal ends where the view begins, and so does every other member's."""
        if self.member is not None:
            self.member.leave()
        replica = self._replica
        self._outside.forget()
        self._asked = False
        self.forcing.end("done", f"serves in view {agreed.number}: {' '.join(agreed.members)}")
        self._requests.view = agreed.number
        replica.own_disk.made_whole()
        member = self.member = Member(
            replica, agreed, self._requests, lambda: list(self._joining()), self._on_appended
        )
        if self.settling.promised > agreed.number and not self._begins_after_promise:
            member.wedge(agreed.start)
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
        self.member.leave()
        self.member = None
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
        """A new view as soon as it is this server's turn, though nothing demands one; False for who is no member."""
        self._asked = self.member is not None
        self._look.set()
        return self._asked

    def serves(self) -> bool:
        """Whether this server is in a view all of whose members are heard."""
        return self.member is not None and not self.member.gone()

    def force(self) -> dict[str, Any]:
        """A person wants the next view from whoever is there, however few. `refused` is empty when that is under way."""
        agreed = self._agreement.agreed
        if self._world.name not in agreed.members:
            told = f"{self._world.name} was not in view {agreed.number}: force one of {', '.join(agreed.members)}"
            return {"refused": told}
        return self.forcing.order(agreed.number, self._replica.log.last.sn)

    def _forced(self, agreed: Agreed, joining: dict[str, JoinView]) -> Wanted | None:
        """The next view is of this server and of the old members that it hears."""
        name, member = self._world.name, self.member
        if name not in agreed.members:
            return None
        heard = [each for each in agreed.members if each in joining]
        if member is not None:
            heard += [each for each in member.view.members if each not in member.gone()]
        return Wanted("a person forces this server", sorted({name, *heard}), 0, False, [])

    def _change_wanted(self) -> Wanted | None:
        """What this server would change now; it lets others go first who are before it in the view."""
        agreed, now_ns = self._agreement.agreed, self._now_ns()
        attempt, since_ns = self._changing_since
        others = agreed.changing and agreed.proposer != self._world.name
        if others and attempt == agreed.attempt and now_ns - since_ns < 2 * self.lease_ns:
            return None
        joining = self._joining()
        if self.forcing.stands:
            return self._forced(agreed, joining)
        if self.member is not None:
            wanted = change_of_member(self.member, self._replica, joining, agreed.changing, self._asked)
            self._bring_closer(wanted, joining)
        elif self._may_revive():
            waited = now_ns - self._since_ns > 3 * self.lease_ns
            wanted = change_of_restarted(agreed, self._replica, joining, waited)
        else:
            wanted = None
        if wanted is None or not wanted.changes:
            self._wanted_since = None
            return None
        if self._wanted_since is None:
            self._wanted_since = now_ns
        delay_ns = wanted.turn * self.lease_ns // 10 + (self.lease_ns if wanted.minority else 0)
        return wanted if now_ns - self._wanted_since >= delay_ns else None

    def _may_revive(self) -> bool:
        """Whether nobody lives in the view that this server's earlier life was in."""
        agreed, log = self._agreement.agreed, self._replica.log
        name, disk = self._world.name, self._replica.own_disk.identity
        mine = name in agreed.members and agreed.knows_disk(name, disk) and log.holds(agreed.start)
        return mine and not self._outside.view_lives(agreed.number, self._now_ns())

    async def _change(self, wanted: Wanted) -> None:
        was = self._agreement.agreed
        self._wanted_since = None
        self._outdated = True
        if not await self._agreement.begin():
            return
        attempt = self._agreement.agreed.attempt
        self._replica.step("propose", f"{wanted.reason}; next {' '.join(wanted.invited)}", attempt)
        if self.forcing.stands:
            was = self._goes_on_without(was, wanted.invited)
        installed = await ViewChange(self._replica, self.settling, was, attempt).run(wanted.invited)
        if installed is None:
            await self._world.clock.sleep(self._world.rng.randrange(RETRY_NS))
            return
        self._on_agreed(installed)
        for name in wanted.invited:
            if name != self._world.name:
                self._world.network.send(name, Installed(installed.number))

    def _goes_on_without(self, was: Agreed, invited: list[str]) -> Agreed:
        """Names what may be lost."""
        others = [name for name in was.members if name not in invited]
        last, alone = self._replica.log.last, ", ".join(others) or "nobody"
        self.forcing.step(
            "2b",
            f"goes on at sn {last.sn} of view {last.epoch}: what {alone} alone may hold after it is lost",
        )
        return Forced(**msgspec.structs.asdict(was))

    def _bring_closer(self, wanted: Wanted | None, joining: dict[str, JoinView]) -> None:
        """The first member sends joiners that are far behind what all members hold, one at a time."""
        if wanted is None or wanted.turn or self._bringing or not wanted.far:
            return
        name = wanted.far[0]
        goal = self._replica.log.mark_at(self._replica.applied_sn)
        assert goal is not None
        self._bringing = True
        self._world.scope.spawn(self._bring(name, joining[name], self.view_number, goal), "joining")

    async def _bring(self, name: str, join: JoinView, view: int, goal: Mark) -> None:
        await bring(self._replica, view, name, join.tails, goal, False)
        self._bringing = False
