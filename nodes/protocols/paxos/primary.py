"""Everything that exists only while a server is elected or primary in one ballot."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

import msgspec

from nodes.config import MILLISECOND
from nodes.metadata_server.tenure import Choice, ServingLeader
from nodes.protocols.paxos.images import Secondaries
from nodes.protocols.paxos.leases import Granted
from nodes.protocols.paxos.member import Member
from nodes.protocols.paxos.messages import Accepted, AskLease, LeaseGranted, PaxosJoin, PaxosPromise
from nodes.protocols.paxos.proposer import Proposer
from nodes.protocols.paxos.takeover import JOINING, PRIMARY, SECONDARY, Takeover
from nodes.replicas.view import LostLock, Place, ViewMoved
from nodes.scope import Tenure
from nodes.wire.messages import CheckOperation, Message
from nodes.world import Change, ConnectionLoss, CoordinationError

NEAR = 256
"""Who lacks no more slots than this is taken into the view."""
VIEW_MAX = 16
NAME_AGAIN_NS = 10 * MILLISECOND
GRACE_NS = 100 * MILLISECOND
"""How long the elected waits for members beyond a majority, so that they need not join again."""


class Primary(ServingLeader):
    """The tenure of one holder of the lock: takeover, service, end."""

    WORD = "ballot"

    def __init__(self, member: Member, choice: Choice, tenure: Tenure, ended: Callable[[], None]):
        super().__init__(member.replica, choice, tenure, ended)
        self._member = member
        timing = member.config.cluster.timing
        self._timeout_ns = timing.ack_timeout_ms * MILLISECOND
        self.takeover = Takeover(member)
        self.proposer: Proposer | None = None
        self._granted = Granted(member.world.clock, member.read_term)
        self._asked: dict[str, AskLease] = {}
        """Questions for leases that came before this server serves."""
        self._checks: list[tuple[str, CheckOperation]] = []
        """Questions about calls that came before this server serves."""
        self._referred = False
        """Whether somebody is reading an image, to go on with what the log here has behind it."""
        self._present: list[str] = []
        """Who has a place in the global view."""
        self._arrange_soon = asyncio.Event()

    @property
    def epoch(self) -> int:
        return self.ballot

    @property
    def ballot(self) -> int:
        return self.takeover.ballot

    # --- steps ----------------------------------------------------------------------------------------------------

    def on_check(self, peer: str, message: CheckOperation) -> None:
        if self.serving:
            self.answering.on_check(peer, message)
        else:
            self._checks.append((peer, message))

    def on_cross_group(self, peer: str, message: Message) -> None:
        """Of other groups' operations no more is taken than of clients' calls; what is left is sent again."""
        if self.proposer is None or not self.proposer.full:
            super().on_cross_group(peer, message)

    def on_promise(self, peer: str, message: PaxosPromise) -> None:
        self.takeover.on_promise(peer, message)

    def on_accepted(self, peer: str, message: Accepted) -> None:
        if self.proposer is not None:
            self.proposer.on_accepted(peer, message)

    def on_join(self, peer: str, message: PaxosJoin) -> None:
        """A server outside the view; one inside it was started anew, and goes on where its log ends."""
        proposer = self.proposer
        if proposer is None or not self.serving:
            return
        if peer not in self._present or not 0 <= message.success <= proposer.decided:
            there = "has a place" if peer in self._present else "has no place"
            told = f"{peer} {there} in the view, and {message.success} of {proposer.decided} slots"
            self._member.ignoring.tell(peer, message, told)
            self._arrange_soon.set()
            return
        follower = proposer.followers.get(peer)
        if follower is not None and follower.disk == message.disk:
            follower.remind(message.success)
            self._arrange_soon.set()
        elif follower is not None or peer not in proposer.view:
            proposer.admit(peer, message.success, message.disk)

    def on_ask_lease(self, peer: str, message: AskLease) -> None:
        """Granted to members of the recorded view that are not about to leave it, while this server may answer itself."""
        proposer, member = self.proposer, self._member
        if message.ballot != self.ballot:
            told = f"of ballot {message.ballot}; this is ballot {self.ballot}"
            member.ignoring.tell(peer, message, told)
            return
        if proposer is None or not self.lease.holds:
            return
        follower = proposer.followers.get(peer)
        if follower is None:
            member.ignoring.tell(peer, message, "not of who is sent records")
        stays = proposer.changing is None or peer in proposer.changing[1]
        if follower is None or peer not in proposer.recorded or not stays:
            return
        mutation = member.config.cluster.mutations.lease_to_another_disk
        if (message.disk != follower.disk or not follower.whole) and not mutation:
            member.ignoring.tell(peer, message, "its disk has not acknowledged all that was sent")
            return
        if not self.serving:
            self._asked[peer] = message
            return
        follower.remind(message.executed)
        if not follower.silent(self._timeout_ns):
            self._granted.grant(peer)
            member.world.network.send(peer, LeaseGranted(self.ballot, message.sent_ns, member.lease_ns))

    def _end(self) -> None:
        member = self._member
        member.acceptor.on_durable = lambda ballot, slot: None
        if member.acceptor.primary == member.name:
            member.acceptor.primary = ""
        super()._end()
        member.state.cut(member.state.commit_sn)

    # --- procedure ------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """From the lock to the end of the tenure."""
        try:
            await self._take_over()
        except LostLock as lost:
            self.stand_down(str(lost))
        except CoordinationError as error:
            await self._give_up(f"{type(error).__name__} while taking over: {error}")
        except ValueError as error:
            self._member.warn(f"what was heard cannot be gone on with: {error}")
            await self._give_up(str(error))

    async def _give_up(self, reason: str) -> None:
        self.sits_out = True
        await super()._give_up(reason)

    async def _take_over(self) -> None:
        member, takeover = self._member, self.takeover
        await takeover.write_ballot()
        self._role("elected", f"ballot {self.ballot} is written")
        self._confirm_lease()
        self._present = list(await member.view.places())
        session_ns = member.world.coordination.session_timeout_ns
        if not await takeover.hear(self._present, session_ns, GRACE_NS):
            await self._give_up("too few of the configured group answered")
            return
        if not await takeover.begin_from_image(session_ns):
            await self._give_up("what others have pruned lacks here, and no image of it was read")
            return
        names = await takeover.adopt()
        proposer = self._open_proposer(names)
        await self._decided(proposer)
        await self._begin_view(proposer)
        await takeover.outlive_old_leases()
        self._serve(proposer)
        await self._keep(proposer)

    def _open_proposer(self, names: list[str]) -> Proposer:
        """Phase 2 of everything that is redone goes out with the first slot of this ballot, which is the view."""
        member = self._member
        mark = member.log.mark_at(member.queue.current)
        assert mark is not None
        proposer = self.proposer = Proposer(
            member.world, self._commits(), self.takeover.configured, self.ballot, member.acceptor, member.state,
            member.packing, member.config.cluster.holes.answer_set_shrinks, mark, mark.sn,
        )  # fmt: skip
        member.acceptor.on_durable = proposer.on_own_durable
        proposer.on_recorded = self._arrange_soon.set
        for name in names:
            disk = self.takeover.disks[name].instance
            proposer.admit(name, self.takeover.answers[name].success, disk)
        self._begin_writing(proposer, Secondaries(proposer, member.name, self.takeover.configured))
        whole = [name for name in names if not proposer.followers[name].lacks]
        proposer.change_view([member.name, *whole], member.now_ns())
        self._tenure.spawn(self._ticks(proposer), "ticks")
        out_of_reach = partial(proposer.out_of_reach, self._timeout_ns)
        self._tenure.spawn(
            self._give_way(out_of_reach, lambda place: True, lambda: self.serving), "who cannot be reached"
        )
        self.takeover.step("3", f"proposes slot {proposer.last}, and the view {', '.join(proposer.view)}")
        return proposer

    async def _decided(self, proposer: Proposer) -> None:
        """Until the first view of this ballot is recorded; who dies before that is left out of it."""
        while not proposer.recorded:
            self._arrange_soon.clear()
            await self._arrange_soon.wait()

    def _serve(self, proposer: Proposer) -> None:
        member = self._member
        mark = member.log.mark_at(proposer.decided)
        assert mark is not None
        self.takeover.step(
            "4", f"{member.name} is the new primary with {len(proposer.recorded) - 1} secondaries"
        )
        self._begin_service(PRIMARY, f"ballot {self.ballot} is decided up to slot {mark.sn}", mark)
        for peer, question in self._asked.items():
            self.on_ask_lease(peer, question)
        for peer, check in self._checks:
            self.on_check(peer, check)

    # --- the view --------------------------------------------------------------------------------------------------

    async def _ticks(self, proposer: Proposer) -> None:
        clock, pause_ns = self._member.world.clock, self._timeout_ns // 10
        while True:
            began_ns = clock.monotonic_ns()
            await clock.sleep(pause_ns)
            if clock.monotonic_ns() - began_ns > 2 * pause_ns:
                proposer.forgive()
            proposer.on_tick()
            self._change_view(proposer)
            self._hold_log(any(each.lacks for each in proposer.followers.values()))

    def _hold_log(self, referred: bool) -> None:
        """While somebody reads an image the logs behind it stay."""
        assert self.imaging is not None
        if referred and not self._referred:
            self.imaging.begin_session()
        elif self._referred and not referred:
            self.imaging.end_session()
        self._referred = referred

    def _change_view(self, proposer: Proposer) -> None:
        """Who is silent leaves once its lease has surely run out; who has caught up comes in, one change after the other.

        While a change is under way somebody may only leave: what it waits for may be dead.
        """
        changing = proposer.changing is not None
        present = proposer.view if proposer.changing is None else proposer.changing[1]
        silent = proposer.silent(self._timeout_ns)
        for name in silent:
            if name not in proposer.view:
                del proposer.followers[name]
        leave = [name for name in silent if name in present and self._granted.over(name)]
        come = [
            name
            for name, follower in proposer.followers.items()
            if not changing
            and name not in present
            and not follower.lacks
            and proposer.last - follower.accepted <= NEAR
            and name not in silent
        ]
        view = [name for name in [*present, *come] if name not in leave][:VIEW_MAX]
        if view != present:
            proposer.change_view(view, self._member.now_ns())
            what = [*(f"{name} leaves" for name in leave), *(f"{name} comes in" for name in come)]
            detail = f"{', '.join(what)}: slot {proposer.last} says so"
            self._member.step("view", "", detail, self.ballot)

    async def _keep(self, proposer: Proposer) -> None:
        """Keeps the places of the global view as the recorded view is."""
        pause_ns = self._member.config.cluster.timing.renew_scan_ms * MILLISECOND
        while True:
            self._arrange_soon.clear()
            try:
                await self._name_disks(proposer)
                await self._arrange(proposer)
            except (ViewMoved, CoordinationError):
                await self._member.world.clock.sleep(pause_ns // 4)
                continue
            timer = self._member.world.clock.call_later(pause_ns, self._arrange_soon.set)
            await self._arrange_soon.wait()
            timer.cancel()

    async def _name_disks(self, proposer: Proposer) -> None:
        """The record names the disks that have all that was accepted by the disks before them; nothing is answered before the first record does.

        Raises LostLock, ViewMoved, CoordinationError.
        """
        member = self._member
        stored, version = await member.view.configuration()
        whole = {name: each.disk for name, each in proposer.followers.items() if each.whole}
        whole[member.name] = member.identity.id.instance
        disks = {**stored.disks, **{name: disk for name, disk in whole.items() if name in stored.members}}
        if disks != stored.disks:
            new = msgspec.structs.replace(stored, number=stored.number + 1, disks=disks)
            await member.view.guarded([member.view.configuration_change(new, version)])

    async def _begin_view(self, proposer: Proposer) -> None:
        """The first disks and places of this ballot. A place may vanish between the look and the write: then it looks again.

        Raises LostLock, CoordinationError.
        """
        while True:
            try:
                await self._name_disks(proposer)
                return await self._arrange(proposer)
            except (ViewMoved, ConnectionLoss):
                await self._member.world.clock.sleep(NAME_AGAIN_NS)

    async def _arrange(self, proposer: Proposer) -> None:
        """Raises LostLock, ViewMoved, CoordinationError."""
        member = self._member
        places = await member.view.places()
        self._present = list(places)
        for name in [name for name in proposer.followers if name not in proposer.recorded + proposer.view]:
            if name not in places:
                del proposer.followers[name]
        changes: list[Change] = []
        for name, place in places.items():
            state = SECONDARY if name in proposer.recorded else JOINING
            if name != member.name and place.state != state:
                changes.append(member.view.place_change(name, Place(state, self.ballot, proposer.decided)))
        if changes:
            await member.view.guarded(changes)
