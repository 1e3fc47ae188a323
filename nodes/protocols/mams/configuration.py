"""Who counts in N: removals and growth as committed changes of the view (CFS §4.1.2; safety rules 3 and 19)."""

from __future__ import annotations

from nodes.config import MILLISECOND
from nodes.protocols.mams.replica import Replica
from nodes.protocols.mams.ssp import Ssp
from nodes.replicas.view import JUNIOR, STANDBY, Configuration, Place, ViewMoved
from nodes.world import Change, ConnectionLoss

READ_BACK_NS = 50 * MILLISECOND


class ConfigurationKeeper:
    """Changes the configuration on behalf of one active; while a change is in doubt both configurations must agree to every commit."""

    def __init__(self, replica: Replica, sync: Ssp, epoch: int, acknowledged_sn: int):
        self._replica = replica
        self._sync = sync
        self._epoch = epoch
        self._acknowledged_sn = acknowledged_sn
        """Nothing above this had been acknowledged when the tenure began."""

    @property
    def present(self) -> Configuration:
        return self._sync.configurations[-1]

    def missing(self) -> list[str]:
        """Members that are sent no journals."""
        return [
            m for m in self.present.members if m != self._replica.name and m not in self._sync.participants
        ]

    async def shrink(self) -> bool:
        """Removes the missing members if that can lose nothing; False when it must wait. Raises LostLock."""
        old, missing = self.present, self.missing()
        members = [m for m in old.members if m not in missing]
        if not missing or len(members) < self._replica.min_in_step:
            return False
        places = await self._replica.view.places()
        if 2 * len(members) <= len(old.members) and any(server in places for server in missing):
            return False
        new = Configuration(old.number + 1, members, old.initial)
        acknowledged = max(self._acknowledged_sn, self._replica.state.commit_sn)
        holding = sum(member in self._sync.holders(acknowledged) for member in members)
        if holding < new.write_quorum:
            return False
        sn = self._replica.state.commit_sn
        demoted: list[Change] = [
            self._replica.view.place_change(server, Place(JUNIOR, self._epoch, sn))
            for server in missing
            if server in places and places[server].state != JUNIOR
        ]
        done = await self._change(old, new, demoted)
        if done:
            detail = f"removed {', '.join(missing)} from the view, then counted N={len(members)}"
            self._replica.step("shrink", "", "CFS §4.1.2", detail, self._epoch)
        return done

    async def grow(self, server: str) -> bool:
        """A junior whose journal has become equal counts from now on, as a standby. Raises LostLock."""
        old = self.present
        place = self._replica.view.place_change(
            server, Place(STANDBY, self._epoch, self._replica.log.last.sn)
        )
        if server in old.members:
            return await self._change(old, old, [place])
        return await self._change(
            old, Configuration(old.number + 1, [*old.members, server], old.initial), [place]
        )

    async def _change(self, old: Configuration, new: Configuration, places: list[Change]) -> bool:
        view, sync = self._replica.view, self._sync
        stored, version = await view.configuration()
        if stored.number != old.number:
            sync.configurations = [stored]
            return False
        sync.configurations = [old, new]
        changes = [*places, view.configuration_change(new, version)]
        try:
            await view.guarded(changes)
            written = True
        except ViewMoved:
            written = False
        except ConnectionLoss:
            written = await self._read_back() == new.number and new is not old
        sync.configurations = [new if written else old]
        sync.recount()
        return written

    async def _read_back(self) -> int:
        """The number of the configuration that stands; asks until the connection is back."""
        while True:
            try:
                return (await self._replica.view.configuration())[0].number
            except ConnectionLoss:
                await self._replica.world.clock.sleep(READ_BACK_NS)
