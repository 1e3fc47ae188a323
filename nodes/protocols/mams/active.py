"""The active's work beside its writer: participants, membership and renewing (CFS §4.1.2, §4.2.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from nodes.config import MILLISECOND
from nodes.metadata_server.replica import Replica
from nodes.metadata_server.tenure import JournalLeader
from nodes.metadata_server.writer import JournalWriter
from nodes.protocols.mams.configuration import ConfigurationKeeper
from nodes.protocols.mams.messages import Promise, Register, Renewed
from nodes.protocols.mams.recovery import JournalRecovery
from nodes.protocols.mams.renewal import RenewingSessions
from nodes.protocols.mams.rules import RenewingRules
from nodes.protocols.mams.ssp import Ssp
from nodes.replicas.view import JUNIOR, STANDBY, ServerPlace, ViewMoved
from nodes.wire.messages import Message
from nodes.world import Change

FLUSH_LOOK_NS = 10 * MILLISECOND
LOOKS = 10
"""Looks at the acknowledgements between two requests to missing members."""


class Active:
    """The active server, from step 4 of the upgrade to the end of the tenure."""

    def __init__(
        self,
        replica: Replica,
        leader: JournalLeader,
        recovery: JournalRecovery,
        sync: Ssp,
        writer: JournalWriter,
        rules: RenewingRules,
    ):
        assert leader.imaging is not None
        self._replica = replica
        self._leader = leader
        self._recovery = recovery
        self.sync = sync
        self.writer = writer
        self._keeper = ConfigurationKeeper(replica, sync, leader.grants, replica.log.last.sn, rules)
        renewing = RenewingSessions(replica, sync, self._keeper, leader.answering, leader.imaging, rules)
        self._renewing = renewing
        self._handlers: dict[type[Message], Callable[[str, Any], None]] = {
            **sync.handlers,
            Promise: self._admit,
            Register: self._on_register,
            Renewed: renewing.on_renewed,
        }
        self._asked_back: list[str] = []
        self._to_renew: set[str] = set()
        """Members that promised and can only be renewed: with another disk than the recorded one, or behind the start of this log."""
        self._disks_named = False
        self._flushes = True
        """Whether step 4 still waits for acknowledgements. Repairs begin when it has ended."""

    def on_message(self, peer: str, message: Message) -> None:
        step = self._handlers.get(type(message))
        if step is not None:
            step(peer, message)

    def remove(self, server: str) -> str:
        """Orders the removal of a server, which happens as soon as it can lose nothing.

        Returns the reason when the removal is impossible, else an empty string.
        """
        if server == self._replica.name:
            return f"{server} is the active: take its lock first"
        members = [name for name in self._keeper.present.members if name != server]
        if len(members) < self._replica.min_in_step:
            return f"{self._replica.group.name} never counts fewer than {self._replica.min_in_step} servers"
        self._renewing.leaving.add(server)
        return ""

    # --- participants ---------------------------------------------------------------------------------------------

    def admit_promised(self) -> None:
        """Begins to send journals to the members that promised before step 4."""
        for peer, promise in self._recovery.promises.items():
            self._admit(peer, promise)

    def _admit(self, peer: str, promise: Promise) -> None:
        """A member that promised is sent what it lacks, unless this log does not reach back to a mark that both share."""
        sync = self.sync
        if (
            peer in sync.participants
            or peer not in sync.configurations[0].members
            or (self._leader.serving and peer not in self._asked_back)
        ):
            return
        if self._disks_named and not self._is_named(peer, promise.disk.instance):
            self._to_renew.add(peer)
            return
        common = self._replica.log.agrees_up_to(promise.tails)
        matched = None if common is None else self._replica.log.mark_at(common)
        if matched is None:
            self._to_renew.add(peer)
            return
        sync.admit(peer, matched, promise.disk.instance)
        # An earlier registration would have it renewed from where it was then.
        self._renewing.juniors.pop(peer, None)

    def _on_register(self, peer: str, message: Register) -> None:
        """A member that acknowledges in a takeover is a junior of the view until step 5. The record needs its disk: it stays a participant."""
        there = self.sync.participants.get(peer)
        acknowledges = there is not None and there.confirmed and there.disk == message.disk.instance
        dropped = self._replica.config.cluster.mutations.registers_while_elected
        if self._leader.serving or not acknowledges or dropped:
            self._renewing.on_register(peer, message)

    def _is_named(self, peer: str, disk: int) -> bool:
        """Whether the record names this disk of the member. A member with another disk is renewed first."""
        recorded = self.sync.configurations[0].disks.get(peer) == disk
        return recorded or self._replica.config.cluster.mutations.standby_without_record

    def out_of_reach(self) -> list[str]:
        """All members of the configuration while too few of them acknowledge, else an empty list.

        The list is also empty while a takeover is forced or has yet to begin its repairs, a renewal advances, or the silent members can be removed:
        where each group needs every member, a silent one is no reason to give way.
        """
        sync = self.sync
        repairs = self._flushes or self._renewing.advances or self._keeper.may_shrink_to(sync.answering())
        stays = not sync.lacks_answers or self._replica.forcing.stands or repairs
        return [] if stays else sync.configurations[0].members

    def _expected(self) -> bool:
        """Whether a member that promised has yet to acknowledge the flush."""
        last = self._replica.log.last.sn
        return any(not p.confirmed or p.matched.sn < last for p in self.sync.participants.values())

    async def flushed(self, sn: int) -> None:
        """Waits for one acknowledgement time-out, and no longer than until group `sn` is committed and every member that promised has it."""
        clock = self._replica.world.clock
        end_ns = clock.monotonic_ns() + self._replica.config.cluster.timing.ack_timeout_ms * MILLISECOND
        while (self._replica.state.commit_sn < sn or self._expected()) and clock.monotonic_ns() < end_ns:
            self._recovery.ask(self._keeper.missing())
            for _ in range(LOOKS):
                if self._replica.state.commit_sn >= sn and not self._expected():
                    break
                await clock.sleep(FLUSH_LOOK_NS)
        self._flushes = False

    async def regain_quorum(self, sn: int) -> None:
        """Mends the configuration and renews juniors until group `sn` is committed. Raises LostLock, ConnectionLoss."""
        while self._replica.state.commit_sn < sn:
            self._recovery.ask(self._keeper.missing())
            await self._let_register()
            await self._mend_configuration()
            if self.sync.lacks_quorum:
                await self._renewing.renew_one()
            for _ in range(LOOKS):
                if self._replica.state.commit_sn >= sn:
                    return
                await self._replica.world.clock.sleep(FLUSH_LOOK_NS)

    async def ticks(self) -> None:
        timeout_ns = self._replica.config.cluster.timing.ack_timeout_ms * MILLISECOND
        while True:
            await self._replica.world.clock.sleep(timeout_ns // 5)
            self.sync.on_tick(timeout_ns)
            self.writer.on_tick()

    # --- members --------------------------------------------------------------------------------------------------

    async def name_disks(self) -> None:
        """Records the disks of the members. The first record names no disks, so this comes before the first reply (safety rule 23).

        A participant without a recorded disk is renewed: as a standby it would never count. Raises LostLock, ConnectionLoss.
        """
        while not await self._keeper.name_disks() or self._unnamed(self.in_step()):
            if self.sync.lacks_quorum:
                await self._renewing.renew_one()
            await self._replica.world.clock.sleep(FLUSH_LOOK_NS)
        self._disks_named = True
        for name in self._unnamed(self.sync.participants):
            self.sync.lose(name)

    def _unnamed(self, names: Iterable[str]) -> list[str]:
        """The participants among these servers whose disks the record does not name."""
        there = [self.sync.participants[name] for name in names if name in self.sync.participants]
        return [each.name for each in there if not self._is_named(each.name, each.disk)]

    def in_step(self) -> list[str]:
        """The members whose journal equals this one's. A junior that was sent groups and did not come to count is none."""
        members = self.sync.configurations[0].members
        return [name for name in self.sync.holders(self._replica.state.commit_sn) if name in members]

    async def look_after_members(self) -> bool:
        """Mends the configuration and renews one junior. Raises LostLock, ConnectionLoss.

        Returns whether no member is missing and no junior waits.
        """
        await self._mend_configuration()
        for server in sorted(self._renewing.leaving):
            await self._keeper.leave(server)
        await self._ask_back()
        await self._renewing.renew_one()
        return not self._keeper.missing() and not self._renewing.juniors

    async def _mend_configuration(self) -> None:
        """Adds this server, and removes missing members."""
        if not self._replica.config.cluster.mutations.leads_without_counting:
            await self._keeper.join()
        if self._keeper.missing():
            await self._keeper.shrink()
        if self.sync.lacks_quorum and self._replica.forcing.stands:
            done = await self._keeper.force()
            if done and self._leader.serving:
                self._replica.forcing.end("done", f"{self._replica.name} takes writes again")

    async def _ask_back(self) -> None:
        """Asks silent members that are still standbys of the view for a promise; those that answer are sent journals again."""
        missing = self._keeper.missing()
        places = await self._replica.view.places() if missing else {}
        self._asked_back = [m for m in missing if m in places and places[m].state == STANDBY]
        self._recovery.ask(self._asked_back)
        await self._let_register()

    async def _let_register(self) -> None:
        """Makes juniors of standbys that can only be renewed: juniors register. Their places were written when they, or former lives of them, were in
        step. Raises LostLock, ConnectionLoss."""
        view = self._replica.view
        places = await view.places() if self._to_renew else {}
        there = [m for m in self._keeper.missing() if m in self._to_renew and m in places]
        self._to_renew.clear()
        junior = ServerPlace(JUNIOR, self.sync.epoch, self._replica.state.commit_sn)
        changes: list[Change] = [view.place_change(m, junior) for m in there if places[m].state == STANDBY]
        if changes:
            with suppress(ViewMoved):
                await view.guarded(changes)
