"""The state of a server while it is elected or primary in one ballot."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

import msgspec

from nodes.config import MILLISECOND
from nodes.metadata.records import IncarnationRecord
from nodes.metadata_server.tenure import ChosenMechanisms, ServingLeader
from nodes.protocols.paxos.followers import Follower
from nodes.protocols.paxos.images import Secondaries
from nodes.protocols.paxos.leases import GrantedLeases
from nodes.protocols.paxos.member import PaxosMember
from nodes.protocols.paxos.messages import Accepted, AskLease, LeaseGranted, PaxosJoin, PaxosPromise
from nodes.protocols.paxos.proposer import Proposer
from nodes.protocols.paxos.takeover import JOINING, PRIMARY, SECONDARY, Takeover
from nodes.replicas.leader import TakeoverStopped
from nodes.replicas.view import Configuration, ServerPlace, ViewMoved
from nodes.scope import Tenure
from nodes.wire.messages import CheckOperation, Message
from nodes.world import Change, ConnectionLoss, CoordinationError

NEAR = 256
"""Most slots that a follower may lack to be taken into the view."""
VIEW_MAX = 16
NAME_AGAIN_NS = 10 * MILLISECOND
GRACE_NS = 100 * MILLISECOND
"""Time that the elected server waits for members beyond a majority, so that they need not join again."""


class Primary(ServingLeader):
    """The tenure of one holder of the lock: takeover, service, end."""

    WORD = "ballot"

    def __init__(
        self, member: PaxosMember, choice: ChosenMechanisms, tenure: Tenure, ended: Callable[[], None]
    ):
        super().__init__(member.replica, choice, tenure, ended, member.acceptor.rounds)
        self.answering.backlog.admit_and_hold()
        self._member = member
        timing = member.config.cluster.timing
        self._timeout_ns = timing.ack_timeout_ms * MILLISECOND
        self.takeover = Takeover(member)
        self.proposer: Proposer | None = None
        self._granted = GrantedLeases(member.world.clock, member.read_term)
        self._asked: dict[str, AskLease] = {}
        """Requests for leases that arrived before this server serves, by server."""
        self._checks: list[tuple[str, CheckOperation]] = []
        """Checks of calls that arrived before this server serves, with their senders."""
        self._referred = False
        """Whether a follower is reading an image and will need this log's records after it."""
        self._present: list[str] = []
        """Servers with a place in the global view."""
        self._arrange_soon = asyncio.Event()

    @property
    def epoch(self) -> int:
        return self.takeover.ballot

    # --- steps ----------------------------------------------------------------------------------------------------

    def on_check(self, peer: str, message: CheckOperation) -> None:
        if self.serving:
            self.answering.on_check(peer, message)
        else:
            self._checks.append((peer, message))

    def on_cross_group(self, peer: str, message: Message) -> None:
        """Takes operations of other groups only while the proposer has room. The other group sends the rest again."""
        if self.proposer is None or not self.proposer.full:
            super().on_cross_group(peer, message)

    def on_promise(self, peer: str, message: PaxosPromise) -> None:
        self.takeover.on_promise(peer, message)

    def on_accepted(self, peer: str, message: Accepted) -> None:
        if self.proposer is not None:
            self.proposer.on_accepted(peer, message)
            if self.proposer.tally.may_be_recorded(peer):
                self._arrange_soon.set()

    def on_durable(self, ballot: int, slot: int) -> None:
        if self.proposer is not None:
            self.proposer.on_own_durable(ballot, slot)

    def on_join(self, peer: str, message: PaxosJoin) -> None:
        """Admits a server outside the view. A restarted member of the view is reminded of the last decision or admitted with its new disk.

        So does the elected server while it redoes slots: one that promised may be gone, and a majority may need this server."""
        proposer = self.proposer
        deaf = self._member.config.cluster.mutations.joins_ignored_while_redoing and not self.serving
        if proposer is None or deaf:
            return
        if peer not in self._present or not 0 <= message.success <= proposer.last:
            there = "has a place" if peer in self._present else "has no place"
            reported = f"{peer} {there} in the view, and {message.success} of {proposer.last} slots"
            self._member.ignoring.report(peer, message, reported)
            self._arrange_soon.set()
            return
        follower = proposer.tally.followers.get(peer)
        if follower is not None and follower.disk == message.disk:
            follower.remind(message.success)
            self._arrange_soon.set()
        elif follower is not None or peer not in proposer.tally.view:
            # A former primary may know more of the redone slots as decided than those that promised.
            follower = proposer.admit(peer, min(message.success, proposer.decided), message.disk)
            follower.remind(message.success)

    def on_ask_lease(self, peer: str, message: AskLease) -> None:
        """Grants a lease to a member of the recorded view that stays in it, while this server's own lease holds."""
        proposer, member = self.proposer, self._member
        if message.ballot != self.epoch:
            reported = f"of ballot {message.ballot}; this is ballot {self.epoch}"
            member.ignoring.report(peer, message, reported)
            return
        if proposer is None or not self.lease.holds:
            return
        tally = proposer.tally
        follower = tally.followers.get(peer)
        if follower is None:
            member.ignoring.report(peer, message, "not of who is sent records")
        stays = tally.changing is None or peer in tally.changing[1]
        if follower is None or peer not in tally.recorded or not stays:
            return
        mutation = member.config.cluster.mutations.lease_to_another_disk
        if (message.disk != follower.disk or not follower.whole) and not mutation:
            member.ignoring.report(peer, message, "its disk has not acknowledged all that was sent")
            return
        if not self.serving:
            self._asked[peer] = message
            return
        follower.remind(message.executed)
        if not follower.silent(self._timeout_ns):
            self._granted.grant(peer)
            member.world.network.send(peer, LeaseGranted(self.epoch, message.sent_ns, member.lease_ns))

    def _end(self) -> None:
        member = self._member
        if member.acceptor.primary == member.name:
            member.acceptor.primary = ""
        super()._end()
        member.state.cut(member.state.commit_sn)

    # --- procedure ------------------------------------------------------------------------------------------------

    async def _give_up(self, reason: str) -> None:
        self.skip_next_election = True
        await super()._give_up(reason)

    def _step(self, step: str, detail: str) -> None:
        self._member.step("upgrade", step, detail, self.epoch)

    async def take_over(self) -> None:
        """DCFS3, Recovery, "failure of the primary", in numbered steps. Step 1 and the leases of step 4 are additions (safety rules 8, 9 and 16).

        Raises TakeoverStopped, LostLock, CoordinationError.
        """
        await self._write_ballot()  # 1
        promised = await self._learn_range()  # 2
        proposer = await self._redo_range(promised)  # 3
        await self._begin_view(proposer)  # safety rule 23
        await self._roll_back(proposer)
        await self._serve(proposer)  # 4
        await self._keep(proposer)

    async def _write_ballot(self) -> None:
        """Step 1: writes the ballot. Servers that promise it refuse lower ones."""
        await self.takeover.write_ballot()
        self._step("1", f"ballot {self.epoch} is written; lower ones are refused")
        self._role("elected", f"ballot {self.epoch} is written")
        self._confirm_lease()

    async def _learn_range(self) -> list[str]:
        """Step 2: accepts the slots between the smallest success and the largest current pointer. Returns the promisers. Raises TakeoverStopped."""
        member, takeover = self._member, self.takeover
        self._present = list(await member.view.places())
        session_ns = member.world.coordination.session_timeout_ns
        await takeover.hear(self._present, session_ns, GRACE_NS)
        await takeover.begin_from_image(session_ns)
        try:
            adopted = await takeover.adopt()
        except ValueError as error:
            member.warn(f"the answers cannot be used: {error}")
            raise TakeoverStopped(str(error)) from error
        self._step("2", f"promises of {', '.join(sorted(takeover.answers)) or 'no other server'}; {adopted}")
        await takeover.check_rollbacks()
        return adopted.promised

    async def _redo_range(self, names: list[str]) -> Proposer:
        """Step 3: runs phase 2 of the range and then of this ballot's first view. Ends when the view and all slots before it are decided."""
        member = self._member
        mark = member.log.mark_at(member.queue.current)
        assert mark is not None
        proposer = self.proposer = Proposer(
            member.world, self._commits(), self.takeover.configured, self.takeover.recorded, self.epoch,
            member.acceptor, member.state, member.packing, member.config.cluster.holes.answer_set_shrinks,
            member.config.cluster.mutations.replaced_disk_votes, mark, mark.sn, self._arrange_soon.set,
            self.answering.backlog.resume, member.config.cluster.knobs.open_slots,
        )  # fmt: skip
        tally = proposer.tally
        for name in names:
            disk = self.takeover.disks[name].instance
            proposer.admit(name, self.takeover.answers[name].success, disk)
        self._begin_writing(proposer, Secondaries(proposer, member.name, self.takeover.configured))
        whole = [name for name in names if not tally.followers[name].lacks]
        proposer.change_view([member.name, *whole], member.now_ns())
        self._tenure.spawn(self._ticks(proposer), "ticks")
        self._ahead_of_own = tally.ahead_of_own
        out_of_reach = partial(proposer.out_of_reach, self._timeout_ns)
        self._tenure.spawn(self._give_way(out_of_reach, lambda: self.serving), "who cannot be reached")
        woken = False
        while not tally.recorded:
            self._arrange_soon.clear()
            try:
                if tally.to_record():
                    await self._name_disks(proposer)
                if woken:
                    self._present = list(await member.view.places())
            except (ViewMoved, CoordinationError):
                await member.world.clock.sleep(NAME_AGAIN_NS)
                continue
            if not tally.recorded:
                await self._arrange_soon.wait()
                woken = True
        self._step("3", f"slot {proposer.decided} is decided, and the view {', '.join(tally.recorded)}")
        return proposer

    async def _roll_back(self, proposer: Proposer) -> None:
        """Records the newest recovery of the cluster if no slot does (CFS §4.3). Everything up to it is executed when this ends.

        Raises TakeoverStopped, LostLock."""
        replica = self._replica
        origin, barrier = replica.origin, replica.origin.barrier

        async def take_in() -> None:
            """Records the disks of members that have come: a slot that is proposed before this server serves may need them."""
            if self._arrange_soon.is_set():
                self._arrange_soon.clear()
                try:
                    await self._arrange(proposer, await self._name_disks(proposer))
                except (ViewMoved, CoordinationError):
                    self._arrange_soon.set()

        await proposer.execute_up_to(proposer.last, take_in)
        if replica.state.namespace.incarnation >= origin.incarnation:
            return
        if not (replica.log.holds(barrier) and await replica.history.leads_to(barrier.sn)):
            raise TakeoverStopped(f"image and log here do not lead to checkpoint {origin.checkpoint}")
        record = IncarnationRecord(
            self._member.now_ns(), origin.incarnation, origin.checkpoint, barrier.sn, barrier.crc
        )
        slot = proposer.roll_back(record)
        await proposer.execute_up_to(slot, take_in)
        self._step("3", f"slot {slot} restores checkpoint {origin.checkpoint}")

    async def _serve(self, proposer: Proposer) -> None:
        """Step 4: serves as the new primary after every read lease of lower ballots has expired."""
        member = self._member
        await self.takeover.outlive_old_leases()
        mark = member.log.mark_at(proposer.decided)
        assert mark is not None
        self._step(
            "4", f"{member.name} is the new primary with {len(proposer.tally.recorded) - 1} secondaries"
        )
        self._begin_service(PRIMARY, f"ballot {self.epoch} is decided up to slot {mark.sn}", mark)
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
                proposer.tally.forgive()
            proposer.on_tick(self._timeout_ns)
            self._change_view(proposer)
            self._hold_log(bool(proposer.tally.lacking()))

    def _hold_log(self, referred: bool) -> None:
        """Stops pruning of the log while a follower reads an image."""
        assert self.imaging is not None
        if referred and not self._referred:
            self.imaging.pruning.begin_session()
        elif self._referred and not referred:
            self.imaging.pruning.end_session()
        self._referred = referred

    def _change_view(self, proposer: Proposer) -> None:
        """Proposes the next view: members that are silent or need an image leave after their leases have expired, followers that caught up join.

        During a change members may only leave, because the change may wait for a dead one.
        """
        tally = proposer.tally
        changing = tally.changing is not None
        present = tally.view if tally.changing is None else tally.changing[1]
        silent = tally.silent(self._timeout_ns)
        for name in silent:
            if name not in tally.view:
                del tally.followers[name]
        behind = {*silent, *tally.lacking()}
        leave = [name for name in present if name in behind and self._granted.over(name)]
        come = [
            name
            for name, follower in tally.followers.items()
            if not changing
            and name not in present
            and follower.is_near(proposer.last, min(NEAR, proposer.open_max))
            and name not in silent
        ]
        view = [name for name in [*present, *come] if name not in leave][:VIEW_MAX]
        if view != present:
            proposer.change_view(view, self._member.now_ns())
            what = [*(f"{name} leaves" for name in leave), *(f"{name} comes in" for name in come)]
            detail = f"{', '.join(what)}: slot {proposer.last} says so"
            self._member.step("view", "", detail, self.epoch)

    async def _keep(self, proposer: Proposer) -> None:
        """Keeps the places of the global view equal to the recorded view."""
        pause_ns = self._member.config.cluster.timing.renew_scan_ms * MILLISECOND
        while True:
            self._arrange_soon.clear()
            try:
                await self._arrange(proposer, await self._name_disks(proposer))
            except (ViewMoved, CoordinationError):
                await self._member.world.clock.sleep(pause_ns // 4)
                continue
            timer = self._member.world.clock.call_later(pause_ns, self._arrange_soon.set)
            await self._arrange_soon.wait()
            timer.cancel()

    async def _name_disks(self, proposer: Proposer) -> Configuration:
        """Records the disks that have every slot accepted by their predecessors, and returns the record. They count in no decision before it. The
        first record names a majority. Raises LostLock, ViewMoved, CoordinationError."""
        member, tally = self._member, proposer.tally
        stored, version = await member.view.configuration()
        disks, changes = {**stored.disks, **tally.to_record()}, list[Change]()
        if disks != stored.disks and 2 * len(disks) > len(stored.members):
            stored = msgspec.structs.replace(stored, number=stored.number + 1, disks=disks)
            changes.append(member.view.configuration_change(stored, version))
        if stored.disks != tally.disks:
            # The record of a later primary would make earlier acknowledgements count that its takeover did not look for.
            await member.view.guarded(changes)
        tally.disks = stored.disks
        proposer.count()
        return stored

    async def _begin_view(self, proposer: Proposer) -> None:
        """Writes the first disks and places of this ballot. It tries again when a place changes between read and write.

        Raises LostLock, CoordinationError.
        """
        while True:
            try:
                return await self._arrange(proposer, await self._name_disks(proposer))
            except (ViewMoved, ConnectionLoss):
                await self._member.world.clock.sleep(NAME_AGAIN_NS)

    async def _arrange(self, proposer: Proposer, stored: Configuration) -> None:
        """Writes the places that differ from the recorded view. A member of it whose disk is not on record is joining: it can follow no primary.

        Raises LostLock, ViewMoved, CoordinationError.
        """
        member, tally = self._member, proposer.tally
        mutations = member.config.cluster.mutations
        places = await member.view.places()
        self._present = list(places)
        for name in [name for name in tally.followers if name not in tally.recorded + tally.view]:
            if name not in places:
                del tally.followers[name]
        changes: list[Change] = []
        for name, place in places.items():
            in_step = (
                counts(place, stored, name, tally.followers.get(name)) or mutations.secondary_without_record
            )
            state = SECONDARY if name in tally.recorded and in_step else JOINING
            if name != member.name and place.state != state:
                changes.append(
                    member.view.place_change(
                        name, ServerPlace(state, self.epoch, proposer.decided, place.disk)
                    )
                )
        if changes:
            await member.view.guarded(changes)


def counts(place: ServerPlace, stored: Configuration, name: str, follower: Follower | None) -> bool:
    """Whether the disk of this place is the member's on record (safety rule 23), which is true of servers outside the configuration; and whether its
    acknowledgements are taken: a late copy of a former life's message may have admitted another disk."""
    known = name not in stored.members or stored.disks.get(name) == place.disk
    return known and (follower is None or follower.disk == place.disk)
