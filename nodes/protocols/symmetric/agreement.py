"""Views that everybody agrees on: the coordination service holds the present one, and its next one is a compare-and-set (safety rule 7)."""

from __future__ import annotations

import msgspec

from nodes.replicas.log import NOTHING
from nodes.replicas.view import EpochNode, GlobalView, Place, Watch
from nodes.wire.messages import Mark
from nodes.world import BadVersion, Change, ConnectionLoss, Coordination, CoordinationError, NodeExists, Set

MEMBER, JOINING = "member", "joining"
ALL_STABLE_MAX = 4
"""Of views up to this size any member may go on, for everything that was shown is on every one; of larger ones a majority may."""


class Agreed(msgspec.Struct, frozen=True):
    """The view as it lies in the group's `configuration` node."""

    number: int
    members: list[str]
    """In order; a member's place is its id (SAA §5.1)."""
    initial: int = 0
    start: Mark = NOTHING
    """The last group of the views before: every member held all up to it when this view was installed."""
    attempt: int = 0
    """The newest attempt to change the view; larger than `number` while it is under way."""
    proposer: str = ""
    """Who makes that attempt."""

    @property
    def changing(self) -> bool:
        return self.attempt > self.number

    def enough(self, present: int) -> bool:
        """Whether so many of its members may form the next view."""
        size = len(self.members)
        return 2 * present > size or (size <= ALL_STABLE_MAX and present > 0)


class Forced(Agreed, frozen=True):
    """The view, when a person wants the next one of whoever is there (safety rules 4 and 7)."""

    def enough(self, *there: int) -> bool:
        return all(there[:1])


class Agreement:
    """Reads and guarded writes of the view by one server."""

    def __init__(self, coordination: Coordination, group: str, name: str, without: bool):
        self._coordination = coordination
        self._nodes = GlobalView(coordination, group, name, False)
        self._name = name
        self._without = without
        self._version = -1
        self.agreed = Agreed(0, [])
        """As it was read or written last."""

    async def prepare(self, members: list[str], address: str) -> None:
        await self._nodes.prepare(members, address)

    async def read(self, watch: Watch | None = None) -> Agreed:
        """What everybody agrees on now."""
        path = self._nodes.path("configuration")
        await self._coordination.sync(path)
        octets, stat = await self._coordination.get(path, watch.arm() if watch else None)
        self.agreed = msgspec.json.decode(octets, type=Agreed)
        self._version = stat.version
        return self.agreed

    async def begin(self) -> bool:
        """Becomes the one who changes the view as it was read last; False when somebody else was faster."""
        agreed = self.agreed
        return await self._write(
            msgspec.structs.replace(agreed, attempt=agreed.attempt + 1, proposer=self._name)
        )

    async def install(self, members: list[str], start: Mark) -> bool:
        """Makes the attempt that `begin` began the present view; False when a later one has begun."""
        agreed = self.agreed
        following = Agreed(agreed.attempt, members, agreed.initial, start, agreed.attempt, self._name)
        epoch = Set(
            self._nodes.path("epoch"), msgspec.json.encode(EpochNode(following.number, following.members[0]))
        )
        return await self._write(following, epoch)

    async def _write(self, following: Agreed, *others: Change) -> bool:
        """One compare-and-set; an unknown outcome is read back."""
        version = -1 if self._without else self._version
        path = self._nodes.path("configuration")
        try:
            stats = await self._coordination.multi(
                [Set(path, msgspec.json.encode(following), version), *others]
            )
        except BadVersion:
            return False
        except ConnectionLoss:
            return await self.read() == following
        assert stats[0] is not None
        self.agreed, self._version = following, stats[0].version
        return True

    # --- places and addresses -----------------------------------------------------------------------------------

    async def take_place(self, state: str, view: int, sn: int) -> None:
        await self._nodes.take_place(Place(state, view, sn))

    async def addresses(self) -> dict[str, str]:
        """Of every server that has registered."""
        servers = await self._nodes.known_servers()
        return {server: await self._nodes.address(server) for server in servers}


__all__ = ["JOINING", "MEMBER", "Agreed", "Agreement", "CoordinationError", "NodeExists", "Watch"]
