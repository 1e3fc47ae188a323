"""Agreed views: the coordination service holds the current one, and a compare-and-set replaces it (safety rule 7)."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from nodes.replicas.log import NOTHING
from nodes.replicas.view import EpochNode, GlobalView, OneShotWatch, ServerPlace
from nodes.wire.messages import Mark
from nodes.world import (
    BadVersion,
    Change,
    ConnectionLoss,
    Coordination,
    CoordinationError,
    NodeExists,
    SetNode,
    decoded,
)

MEMBER, JOINING = "member", "joining"
ALL_STABLE_MAX = 4
"""Largest view of which a single member may go on, because each has everything that was shown. A larger view needs a majority."""


class Agreed(msgspec.Struct, frozen=True):
    """The view in the group's `configuration` node."""

    number: int
    members: list[str]
    """Members in order; a member's place is its id (SAA §5.1)."""
    initial: int = 0
    start: Mark = NOTHING
    """Last group of the earlier views. Every member held all groups up to it when this view was installed."""
    attempt: int = 0
    """The newest attempt to change the view; larger than `number` while it is under way."""
    proposer: str = ""
    """Server that makes that attempt."""
    instances: dict[str, int] = {}
    """The instance number of each member's disk when this view began; empty before the first one."""

    @property
    def changing(self) -> bool:
        return self.attempt > self.number

    def enough(self, present: int, certain: int) -> bool:
        """Whether `present` members, of which `certain` have undoubted journals, may form the next view.

        Every shown group is on the disk of every member, so one undoubted journal has all of them. Without one all members must be present:
        then a group that none of them has was not shown (safety rule 23).
        """
        size = len(self.members)
        if not certain and present < size:
            return False
        return 2 * present > size or (size <= ALL_STABLE_MAX and present > 0)


class Forced(Agreed, frozen=True):
    """The view when an operator forces the next one from the members present (safety rules 4 and 7)."""

    def enough(self, *there: int) -> bool:
        return all(there[:1])


class ViewAgreement:
    """Reads and guarded writes of the view by one server."""

    def __init__(self, coordination: Coordination, nodes: GlobalView, name: str, without: bool):
        self._coordination = coordination
        self._nodes = nodes
        self._name = name
        self._without = without
        self._version = -1
        self.agreed = Agreed(0, [])
        """The view as last read or written."""
        self._servers: OneShotWatch | None = None
        self._addresses: dict[str, OneShotWatch] = {}

    async def prepare(self, members: list[str], address: str) -> None:
        await self._nodes.prepare(members, address)

    async def read(self, watch: OneShotWatch | None = None) -> Agreed:
        """Reads the agreed view."""
        path = self._nodes.path("configuration")
        await self._coordination.sync(path)
        data, stat = await self._coordination.get(path, watch.arm() if watch else None)
        self.agreed = decoded(path, data, Agreed)
        self._version = stat.version
        return self.agreed

    async def begin(self) -> bool:
        """Begins an attempt to change the view that was read last. Returns False when another server was faster."""
        agreed = self.agreed
        return await self._write(
            msgspec.structs.replace(agreed, attempt=agreed.attempt + 1, proposer=self._name)
        )

    async def install(self, instances: dict[str, int], start: Mark) -> bool:
        """Installs the attempt as the view of these members and disks. Returns False when a later attempt has begun."""
        agreed, members = self.agreed, sorted(instances)
        following = Agreed(
            agreed.attempt, members, agreed.initial, start, agreed.attempt, self._name, instances
        )
        epoch = SetNode(
            self._nodes.path("epoch"), msgspec.json.encode(EpochNode(following.number, following.members[0]))
        )
        return await self._write(following, epoch)

    async def _write(self, following: Agreed, *others: Change) -> bool:
        """Writes the view by one compare-and-set and reads an unknown outcome back."""
        version = -1 if self._without else self._version
        path = self._nodes.path("configuration")
        try:
            stats = await self._coordination.multi(
                [SetNode(path, msgspec.json.encode(following), version), *others]
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
        await self._nodes.take_place(ServerPlace(state, view, sn))

    async def addresses(self, changed: Callable[[], None]) -> dict[str, str]:
        """The address of every registered server. `changed` is called when a server registers."""
        if self._servers is None:
            self._servers = OneShotWatch(changed)
        addresses: dict[str, str] = {}
        for server in await self._nodes.known_servers(self._servers):
            watch = self._addresses.setdefault(server, OneShotWatch(changed))
            addresses[server] = await self._nodes.address(server, watch)
        return addresses

    def forget_watches(self) -> None:
        """Forgets the watches, which ended with the connection."""
        self._servers = None
        self._addresses.clear()


__all__ = ["JOINING", "MEMBER", "Agreed", "CoordinationError", "NodeExists", "OneShotWatch", "ViewAgreement"]
