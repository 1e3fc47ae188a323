"""Who counts in N: join, leave, shrink and growth are one procedure (CFS §4.1.2; safety rules 3, 4, 19 and 22).

1. Both quorums are required, that of the old configuration and that of the new one, of every group that is not yet answered.
2. A write quorum of the new one is proven to hold everything that was answered before.
3. The record is written, in a transaction that checks the lock and the record's version.
4. The old one is left.

Steps 1 and 2 happen at one instant. A change of membership before step 3 ends the attempt. While the outcome of step 3 is unknown both quorums
stay required.
"""

from __future__ import annotations

from typing import NamedTuple

from nodes.config import MILLISECOND
from nodes.metadata_server.replica import Replica
from nodes.protocols.mams.ssp import Ssp
from nodes.replicas.view import JUNIOR, STANDBY, Configuration, LostLock, Place, ViewMoved
from nodes.world import Change, ConnectionLoss

READ_BACK_NS = 50 * MILLISECOND
PAPER = "CFS §4.1.2"


class Wish(NamedTuple):
    """A change that is wanted."""

    members: list[str]
    standby: str = ""
    """Who is a standby from then on."""
    juniors: tuple[str, ...] = ()
    """Who is none any more."""
    spares: tuple[str, ...] = ()
    """Who must have no place in the view, that is no session."""
    forced: bool = False


class ConfigurationKeeper:
    """Changes the configuration on behalf of one active, one change at a time."""

    def __init__(self, replica: Replica, sync: Ssp, epoch: int, acknowledged_sn: int):
        self._replica = replica
        self._sync = sync
        self._epoch = epoch
        self._acknowledged_sn = acknowledged_sn
        """Nothing above this had been acknowledged when the tenure began."""

    @property
    def present(self) -> Configuration:
        """The one that surely stands; a change that is under way adds another."""
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
        gone = tuple(missing) if 2 * len(members) <= len(old.members) else ()
        return await self._remove(Wish(members, "", tuple(missing), gone))

    async def leave(self, server: str) -> bool:
        """Removes one member, in step or not, if that can lose nothing. Raises LostLock, ConnectionLoss."""
        members = [m for m in self.present.members if m != server]
        if members == self.present.members or len(members) < self._replica.min_in_step:
            return False
        done = await self._remove(Wish(members, "", (server,)))
        if done:
            self._sync.lose(server)
        return done

    async def force(self) -> bool:
        """Goes on with this server and the members that are in step with it, however few; a person asked for it (safety rule 4).

        Raises LostLock, ConnectionLoss.
        """
        missing, name = self.missing(), self._replica.name
        members = [m for m in self.present.members if m not in missing]
        members = members if name in members else [name, *members]
        if members == self.present.members:
            return True
        return await self._remove(Wish(members, "", tuple(missing), forced=True))

    async def grow(self, server: str) -> bool:
        """A junior whose journal has become equal counts from now on, as a standby. Raises LostLock, ConnectionLoss."""
        members = self.present.members
        return await self._change(Wish(members if server in members else [*members, server], server))

    async def name_disks(self) -> bool:
        """The record names the disks of the members that have all that was answered; the members stay. Raises LostLock, ConnectionLoss."""
        old = self.present
        return self._disks(old.members) == old.disks or await self._change(Wish(old.members))

    def _disks(self, members: list[str]) -> dict[str, int]:
        """By member: the disk that is known to have everything that was answered, else the recorded one (safety rule 23)."""
        sync, replica = self._sync, self._replica
        disks = {name: disk for name, disk in self.present.disks.items() if name in members}
        for name in sync.holders(self._acknowledged()):
            if name in members:
                own = name == replica.name
                disks[name] = replica.identity.id.instance if own else sync.participants[name].disk
        return disks

    async def _remove(self, wish: Wish) -> bool:
        done = await self._change(wish)
        if done:
            gone, count = ", ".join(wish.juniors), len(wish.members)
            detail = f"removed {gone or 'nobody'} from the view, then counted N={count}"
            self._step("shrink", "forced" if wish.forced else "", detail)
        return done

    # --- the procedure ---------------------------------------------------------------------------------------------

    async def _change(self, wish: Wish) -> bool:
        sync, old = self._sync, self.present
        disks = self._disks(wish.members)
        same = wish.members == old.members and disks == old.disks
        new = old if same else Configuration(old.number + 1, wish.members, old.initial, disks)
        both = [old] if same else [old, new]
        present = list(sync.participants.values())
        late = self._requires_late(old, new)
        sync.configurations = [old] if late else both
        if wish.members != old.members and not sync.quorum_has(new, self._acknowledged()):
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
        """The other one surely does not stand, and never will. Who loses the lock in between goes on requiring both."""
        self._sync.configurations = [stands]
        self._sync.recount()

    def _requires_late(self, old: Configuration, new: Configuration) -> bool:
        """The mutations: the new quorum is required only after what is awaited has come."""
        mutations = self._replica.config.cluster.mutations
        if len(new.members) > len(old.members):
            return mutations.join_under_load
        return mutations.readmit_during_shrink

    def _acknowledged(self) -> int:
        """Nothing above this has been answered so far."""
        return max(self._acknowledged_sn, self._replica.state.commit_sn)

    async def _places(self, wish: Wish) -> list[Change] | None:
        """What changes in the places of the view; None when one that must have none has one."""
        view, sn = self._replica.view, self._replica.log.last.sn
        if wish.standby:
            return [view.place_change(wish.standby, Place(STANDBY, self._epoch, sn))]
        places = await view.places()
        if any(server in places for server in wish.spares):
            return None
        return [
            view.place_change(server, Place(JUNIOR, self._epoch, self._replica.state.commit_sn))
            for server in wish.juniors
            if server in places and places[server].state != JUNIOR
        ]

    async def _version(self, old: Configuration) -> int:
        """Of the record, which only the holder of the lock changes. Raises LostLock."""
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
        """Finds out whether a write of unknown outcome has landed, and sees to it that it does not land later. Raises LostLock."""
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
        self._replica.step(procedure, step, PAPER, detail, self._epoch)


def _count(configuration: Configuration) -> str:
    return f"N={len(configuration.members)} ({', '.join(configuration.members)})"
