"""Views that everybody agrees on: the coordination service holds the present one, and its next one is a compare-and-set (safety rule 7)."""

from __future__ import annotations

from collections.abc import Callable

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
    disks: dict[str, str] = {}
    """The identity of each member's disk when this view began; empty before the first one."""

    @property
    def changing(self) -> bool:
        return self.attempt > self.number

    def knows_disk(self, name: str, disk: str) -> bool:
        """Whether a member has the disk with which it came into this view."""
        return self.disks.get(name, disk) == disk

    def enough(self, present: int, certain: int) -> bool:
        """Whether so many of its members, `certain` of them without doubt about their journals, may form the next view.

        What was shown is on the disk of every member: one whose journal is whole has all of it. Without any such one all must be there, for
        then what none of them has was not shown (safety rule 23).
        """
        size = len(self.members)
        if not certain and present < size:
            return False
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
        self._servers: Watch | None = None
        self._addresses: dict[str, Watch] = {}

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

    async def install(self, disks: dict[str, str], start: Mark) -> bool:
        """Makes the attempt that `begin` began the present view of these members, with their disks; False when a later one has begun."""
        agreed, members = self.agreed, sorted(disks)
        following = Agreed(agreed.attempt, members, agreed.initial, start, agreed.attempt, self._name, disks)
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

    async def addresses(self, changed: Callable[[], None]) -> dict[str, str]:
        """Of every server that has registered; `changed` is called once there is another, or one registers anew."""
        if self._servers is None:
            self._servers = Watch(changed)
        addresses: dict[str, str] = {}
        for server in await self._nodes.known_servers(self._servers):
            watch = self._addresses.setdefault(server, Watch(changed))
            addresses[server] = await self._nodes.address(server, watch)
        return addresses

    def forget_watches(self) -> None:
        """They have gone with the connection."""
        self._servers = None
        self._addresses.clear()


__all__ = ["JOINING", "MEMBER", "Agreed", "Agreement", "CoordinationError", "NodeExists", "Watch"]
