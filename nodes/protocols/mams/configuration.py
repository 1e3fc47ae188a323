"""The members that count in N: join, leave, shrink and growth are one procedure (CFS §4.1.2; safety rules 3, 4, 19 and 22).

1. The active requires both quorums, of the old and of the new configuration, for every group that is not yet answered.
2. The active proves that a write quorum of the new configuration holds every group that was answered before.
3. The active writes the record in a transaction that checks the lock and the record's version.
4. The active drops the old configuration.

Steps 1 and 2 happen at one instant. A change of the participants before step 3 ends the attempt. While the outcome of step 3 is unknown, both
quorums stay required.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from nodes.config import MILLISECOND
from nodes.metadata_server.replica import Replica
from nodes.protocols.mams.rules import RenewingRules
from nodes.protocols.mams.ssp import Ssp
from nodes.replicas.grants import Grants
from nodes.replicas.view import JUNIOR, STANDBY, Configuration, LostLock, ServerPlace, ViewMoved
from nodes.world import Change, ConnectionLoss

READ_BACK_NS = 50 * MILLISECOND
ANSWER_LOOK_NS = 10 * MILLISECOND
PAPER = "CFS §4.1.2"


class ConfigurationRequest(NamedTuple):
    """A requested change of the configuration."""

    members: list[str]
    standby: str = ""
    """The server that becomes a standby; empty for none."""
    juniors: tuple[str, ...] = ()
    """The servers that become juniors."""
    spares: tuple[str, ...] = ()
    """Servers that must have no place in the view, that is, no session."""
    forced: bool = False


class ConfigurationKeeper:
    """Changes the configuration on behalf of one active, one change at a time."""

    def __init__(
        self, replica: Replica, sync: Ssp, grants: Grants, acknowledged_sn: int, rules: RenewingRules
    ):
        self._replica = replica
        self._rules = rules
        self._sync = sync
        self._grants = grants
        self._acknowledged_sn = acknowledged_sn
        """Sn above which no group had been acknowledged when the tenure began."""

    @property
    def present(self) -> Configuration:
        """The configuration that is certainly recorded. A change in progress adds a second one."""
        return self._sync.configurations[0]

    def missing(self) -> list[str]:
        """Members that are sent no journals."""
        return [
            m for m in self.present.members if m != self._replica.name and m not in self._sync.participants
        ]

    # --- the changes -----------------------------------------------------------------------------------------------

    async def shrink(self) -> bool:
        """Removes the missing members if that can lose nothing; False when it must wait. Raises LostLock, ConnectionLoss."""
        old, missing = self.present, self.missing()
        members = [m for m in old.members if m not in missing]
        if not missing or len(members) < self._replica.min_in_step:
            return False
        gone = () if _is_majority(members, old) else tuple(missing)
        return await self._remove(ConfigurationRequest(members, "", tuple(missing), gone))

    def may_shrink_to(self, there: list[str]) -> bool:
        """Whether the members that are not `there` can be removed although they have sessions."""
        members = [m for m in self.present.members if m in there]
        return len(members) >= self._replica.min_in_step and _is_majority(members, self.present)

    async def leave(self, server: str) -> bool:
        """Removes one member, in step or not, if that can lose nothing. Raises LostLock, ConnectionLoss."""
        if not (self._may_leave(server) and await self._others_answer(server) and self._may_leave(server)):
            return False
        return await self._remove(ConfigurationRequest(self._without(server), "", (server,)))

    def _without(self, server: str) -> list[str]:
        return [m for m in self.present.members if m != server]

    def _may_leave(self, server: str) -> bool:
        members = self.present.members
        return server in members and len(members) > self._replica.min_in_step

    async def _others_answer(self, server: str) -> bool:
        """Whether a write quorum of the other members answers now: an idle one that was lost would count as a holder for a session time-out."""
        sync, clock = self._sync, self._replica.world.clock
        asked_ns = clock.monotonic_ns()
        end_ns = asked_ns + self._replica.config.cluster.timing.ack_timeout_ms * MILLISECOND
        for participant in list(sync.participants.values()):
            if not participant.waiting_since_ns:
                sync.pump(participant)
        while sync.acknowledged:
            there = [name for name, each in sync.participants.items() if each.answered_at_ns >= asked_ns]
            rest = replace(self.present, members=self._without(server))
            if rest.has_write_quorum([self._replica.name, *there]):
                break
            if clock.monotonic_ns() >= end_ns:
                return False
            await clock.sleep(ANSWER_LOOK_NS)
        return True

    async def force(self) -> bool:
        """Continues with this server and the members in step with it, however few, on a user's order (safety rule 4).

        Raises LostLock, ConnectionLoss.
        """
        missing, name = self.missing(), self._replica.name
        members = [m for m in self.present.members if m not in missing]
        members = members if name in members else [name, *members]
        if members == self.present.members:
            return True
        return await self._remove(ConfigurationRequest(members, "", tuple(missing), forced=True))

    async def grow(self, server: str) -> bool:
        """Adds a junior with an equal journal to the members, as a standby. Raises LostLock, ConnectionLoss."""
        members = self.present.members
        return await self._change(
            ConfigurationRequest(members if server in members else [*members, server], server)
        )

    async def join(self) -> bool:
        """Adds this server to the members, if it was elected as a server outside of them. Raises LostLock, ConnectionLoss."""
        members, name = self.present.members, self._replica.name
        return name in members or await self._change(ConfigurationRequest([*members, name]))

    async def granted(self, server: str, disk: int) -> bool:
        """Waits until this server grants the lease, so that reads go on when it counts (safety rule 26). False when it does not in time."""
        timeout_ns = self._replica.config.cluster.timing.ack_timeout_ms * MILLISECOND
        return await self._grants.obtained(lambda: self._grants.is_from(server, disk), timeout_ns)

    async def name_disks(self) -> bool:
        """Records the disks of the members that hold every answered group; the members stay. The first record, before which every disk counts, names
        at least as many as a commit needs. Raises LostLock, ConnectionLoss."""
        old = self.present
        if not old.disks and not self._sync.safe(self._acknowledged()):
            return False
        return self._disks(old.members) == old.disks or await self._change(ConfigurationRequest(old.members))

    def _disks(self, members: list[str]) -> dict[str, int]:
        """Disk of each member: the one known to hold every answered group, else the recorded one (safety rule 23)."""
        sync, replica = self._sync, self._replica
        disks = {name: disk for name, disk in self.present.disks.items() if name in members}
        for name in sync.holders(self._acknowledged()):
            if name in members:
                own = name == replica.name
                disks[name] = replica.identity.id.instance if own else sync.participants[name].disk
        return disks

    async def _remove(self, wish: ConfigurationRequest) -> bool:
        done = await self._change(wish)
        if done:
            for server in wish.juniors:  # One of them may have promised while the record was written.
                self._sync.lose(server)
            gone, count = ", ".join(wish.juniors), len(wish.members)
            detail = f"removed {gone or 'no server'} from the view, then counted N={count}"
            self._step("shrink", "forced" if wish.forced else "", detail)
        return done

    # --- the procedure ---------------------------------------------------------------------------------------------

    async def _change(self, wish: ConfigurationRequest) -> bool:
        sync, old = self._sync, self.present
        disks = self._disks(wish.members)
        same = wish.members == old.members and disks == old.disks
        new = old if same else Configuration(old.number + 1, wish.members, old.initial, disks)
        both = [old] if same else [old, new]
        present = list(sync.participants.values())
        late = self._requires_late(old, new)
        sync.configurations = [old] if late else both
        proven = self._rules.may_count(new.members, sync.holders(self._acknowledged()))
        if wish.members != old.members and not proven:
            sync.configurations = [old]
            return False
        if wish.members != old.members:
            self._step(
                "configuration", "both", f"{_count(old)} becomes {_count(new)}: both quorums are required"
            )
        try:
            places = await self._places(wish)
            version = await self._version(old)
        except ConnectionLoss:
            self._leave(old)
            raise
        sync.configurations = both
        moved = not late and present != list(sync.participants.values())
        written = places is not None and not moved and await self._write(old, new, places, version)
        self._leave(new if written else old)
        return written

    def _leave(self, stands: Configuration) -> None:
        """Requires one configuration only: the other is not recorded and never will be.

        An active that loses the lock before this call keeps requiring both.
        """
        self._sync.configurations = [stands]
        self._sync.recount()

    def _requires_late(self, old: Configuration, new: Configuration) -> bool:
        """Whether a mutation is on that requires the new quorum only after the view has been read."""
        mutations = self._replica.config.cluster.mutations
        if len(new.members) > len(old.members):
            return mutations.join_under_load
        return mutations.readmit_during_shrink

    def _acknowledged(self) -> int:
        """Sn above which no group has been answered so far."""
        return max(self._acknowledged_sn, self._replica.state.commit_sn)

    async def _places(self, wish: ConfigurationRequest) -> list[Change] | None:
        """Changes of the places in the view; None when one of the wish's `spares` has a place."""
        view, sn = self._replica.view, self._replica.log.last.sn
        if wish.standby:
            return [view.place_change(wish.standby, place_of(self._sync, wish.standby, STANDBY, sn))]
        places = await view.places()
        if any(server in places for server in wish.spares):
            return None
        return [
            view.place_change(server, ServerPlace(JUNIOR, self._sync.epoch, self._replica.state.commit_sn))
            for server in wish.juniors
            if server in places and places[server].state != JUNIOR
        ]

    async def _version(self, old: Configuration) -> int:
        """Version of the record, which only the holder of the lock changes. Raises LostLock."""
        stored, version = await self._replica.view.configuration()
        if stored.number != old.number:
            raise LostLock(f"configuration {stored.number} stands, not {old.number}")
        return version

    async def _write(
        self, old: Configuration, new: Configuration, places: list[Change], version: int
    ) -> bool:
        view = self._replica.view
        try:
            await view.guarded([*places, view.configuration_change(new, version)])
            return True
        except ViewMoved:
            return False
        except ConnectionLoss:
            return new is not old and await self._settle(old, new)

    async def _settle(self, old: Configuration, new: Configuration) -> bool:
        """Finds out whether a write of unknown outcome took effect, and prevents a later effect. Raises LostLock."""
        view = self._replica.view
        while True:
            try:
                stored, version = await view.configuration()
                if stored == new:
                    return True
                await view.guarded([view.configuration_change(old, version)])
                return False
            except ViewMoved:
                continue
            except ConnectionLoss:
                await self._replica.world.clock.sleep(READ_BACK_NS)

    def _step(self, procedure: str, step: str, detail: str) -> None:
        self._replica.step(procedure, step, PAPER, detail, self._sync.epoch)


def place_of(sync: Ssp, server: str, state: str, sn: int) -> ServerPlace:
    """A server's place. One in step names the disk: the write may take effect when a life with another disk has begun (safety rule 23)."""
    there = sync.participants.get(server) if state == STANDBY else None
    return ServerPlace(state, sync.epoch, sn, 0 if there is None else there.disk)


def _is_majority(members: list[str], configuration: Configuration) -> bool:
    return 2 * len(members) > len(configuration.members)


def _count(configuration: Configuration) -> str:
    return f"N={len(configuration.members)} ({', '.join(configuration.members)})"
