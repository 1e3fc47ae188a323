"""The global view of one replica group in the coordination service (CFS §3.3, §4.2; safety rules 3 and 17)."""

from __future__ import annotations

import msgspec

from nodes.replicas.confirmations import Confirmations
from nodes.replicas.watch import Watch
from nodes.world import (
    BadVersion,
    Change,
    Check,
    ConnectionLoss,
    Coordination,
    CoordinationError,
    Create,
    Delete,
    NodeExists,
    NoNode,
    Set,
    Stat,
    ensure,
)

INCARNATION = "/cloverlab/incarnation"
"""Of the whole cluster; no lock is taken by who lives in an earlier one (safety rule 14)."""
ACTIVE, STANDBY, JUNIOR = "active", "standby", "junior"


class Place(msgspec.Struct, frozen=True):
    """A server's place in the view."""

    state: str
    epoch: int
    sn: int


class EpochNode(msgspec.Struct, frozen=True):
    epoch: int
    active: str


class Configuration(msgspec.Struct, frozen=True):
    """All replicas that count in N: a persistent numbered record, apart from who is alive (safety rule 3)."""

    number: int
    members: list[str]
    initial: int
    disks: dict[str, int] = {}
    """The disk of each member that has all that was acknowledged; none before the group first serves (safety rule 23)."""

    @property
    def write_quorum(self) -> int:
        return len(self.members) // 2 + 1

    def has_write_quorum(self, names: list[str]) -> bool:
        return sum(member in names for member in self.members) >= self.write_quorum

    @property
    def read_quorum(self) -> int:
        """Every write quorum meets every set of so many members."""
        return len(self.members) - self.write_quorum + 1


class Draw(msgspec.Struct, frozen=True):
    """A standby's number in one round of Algorithm 2, with the end of its journal."""

    round: int
    number: int
    epoch: int
    sn: int


class Registration(msgspec.Struct, frozen=True):
    address: str
    group: str


class LostLock(Exception):
    """A guarded write was refused: the lock, its generation or the epoch is no longer ours."""


class ViewMoved(Exception):
    """A guarded write was refused although the lock is still ours: what it was computed from has changed."""


class GlobalView:
    """Reads and guarded writes of the view by one server."""

    def __init__(self, coordination: Coordination, group: str, name: str, unguarded: bool):
        self._coordination = coordination
        self._unguarded = unguarded
        self.name = name
        self.root = f"/cloverlab/groups/{group}"
        self.group = group
        self.confirmations = Confirmations(coordination, self.path("confirmations"), name)
        self.generation = -1
        """Version of the generation node that our acquisition of the lock made; the lock's identity."""
        self.incarnation_version = -1
        """Of the incarnation's node when this server was last known to live in it."""

    def path(self, *parts: str) -> str:
        return "/".join((self.root, *parts))

    async def prepare(self, members: list[str], address: str) -> None:
        """Makes the group's nodes where they lack and registers this server's address."""
        coordination = self._coordination
        for part in ("view", "draws", "generation"):
            await ensure(coordination, self.path(part))
        await self.confirmations.prepare()
        await ensure(coordination, "/cloverlab/servers")
        first = Configuration(0, members, len(members))
        for part, content in (("configuration", first), ("epoch", EpochNode(0, ""))):
            await ensure(coordination, self.path(part), msgspec.json.encode(content))
        await self._put(f"/cloverlab/servers/{self.name}", Registration(address, self.group))

    async def _put(self, path: str, content: msgspec.Struct, ephemeral: bool = False) -> None:
        octets = msgspec.json.encode(content)
        while True:
            try:
                await self._coordination.multi([Set(path, octets)])
                return
            except NoNode:
                pass
            try:
                await self._coordination.multi([Create(path, octets, ephemeral)])
                return
            except NodeExists:
                continue

    # --- reading -----------------------------------------------------------------------------------------------

    async def epoch(self, watch: Watch | None = None) -> tuple[EpochNode, int]:
        """The epoch node and its version."""
        octets, stat = await self._coordination.get(self.path("epoch"), watch.arm() if watch else None)
        return msgspec.json.decode(octets, type=EpochNode), stat.version

    async def lock_owner(self, watch: Watch | None = None) -> tuple[str, int]:
        """(owner, session) of the lock; ("", 0) when nobody holds it."""
        found = await self._find(self.path("lock"), watch)
        return ("", 0) if found is None else (msgspec.json.decode(found[0])["owner"], found[1].owner_session)

    async def place(self, server: str, watch: Watch | None = None) -> tuple[Place, Stat] | None:
        found = await self._find(self.path("view", server), watch)
        return None if found is None else (msgspec.json.decode(found[0], type=Place), found[1])

    async def _find(self, path: str, watch: Watch | None) -> tuple[bytes, Stat] | None:
        """A node that may lack; then the watch waits for it to come."""
        callback = watch.arm() if watch else None
        try:
            return await self._coordination.get(path, callback)
        except NoNode:
            # A read that fails leaves no watch: this one does.
            if callback is None or await self._coordination.exists(path, callback) is None:
                return None
        try:
            return await self._coordination.get(path)
        except NoNode:
            return None

    async def places(self) -> dict[str, Place]:
        """Every server that has a place, by name in order."""
        found: dict[str, Place] = {}
        for server in await self._coordination.children(self.path("view")):
            place = await self.place(server)
            if place is not None:
                found[server] = place[0]
        return found

    async def configuration(self) -> tuple[Configuration, int]:
        """The last committed configuration, read after a sync, and its version."""
        await self._coordination.sync(self.root)
        octets, stat = await self._coordination.get(self.path("configuration"))
        return msgspec.json.decode(octets, type=Configuration), stat.version

    async def address(self, server: str, watch: Watch | None = None) -> str:
        callback = watch.arm() if watch else None
        try:
            octets, _ = await self._coordination.get(f"/cloverlab/servers/{server}", callback)
        except NoNode:
            return ""
        return msgspec.json.decode(octets, type=Registration).address

    async def known_servers(self, watch: Watch | None = None) -> list[str]:
        return await self._coordination.children("/cloverlab/servers", watch.arm() if watch else None)

    async def registered(self) -> list[str]:
        """Every server that ever was one of this group, whether it lives or not."""
        found: list[str] = []
        for server in await self.known_servers():
            octets, _ = await self._coordination.get(f"/cloverlab/servers/{server}")
            if msgspec.json.decode(octets, type=Registration).group == self.group:
                found.append(server)
        return found

    # --- own place and draws ------------------------------------------------------------------------------------

    async def take_place(self, place: Place) -> None:
        """Creates this server's place under its present session; one left by an earlier session of ours goes first."""
        path = self.path("view", self.name)
        octets = msgspec.json.encode(place)
        while True:
            stat = await self._coordination.exists(path)
            if stat is not None and stat.owner_session == self._coordination.session:
                await self._coordination.multi([Set(path, octets)])
                return
            changes: list[Change] = [Create(path, octets, ephemeral=True)]
            if stat is not None:
                changes.insert(0, Delete(path, stat.version))
            try:
                await self._coordination.multi(changes)
                return
            except (NodeExists, NoNode, BadVersion):
                continue

    async def leave_place(self) -> None:
        await self._delete(self.path("view", self.name))

    async def _delete(self, path: str) -> None:
        try:
            await self._coordination.multi([Delete(path)])
        except NoNode:
            pass

    async def draw_round(self) -> int:
        """The round is the lock's generation: it rises with every acquisition."""
        _, stat = await self._coordination.get(self.path("generation"))
        return stat.version

    async def write_draw(self, draw: Draw) -> None:
        path = self.path("draws", self.name)
        stat = await self._coordination.exists(path)
        if stat is not None and stat.owner_session != self._coordination.session:
            await self._delete(path)
        await self._put(path, draw, ephemeral=True)

    async def draws(self, round: int, watch: Watch | None = None) -> dict[str, Draw]:
        found: dict[str, Draw] = {}
        callback = watch.arm() if watch else None
        for server in await self._coordination.children(self.path("draws"), callback):
            try:
                octets, _ = await self._coordination.get(self.path("draws", server))
            except NoNode:
                continue
            draw = msgspec.json.decode(octets, type=Draw)
            if draw.round == round:
                found[server] = draw
        return found

    # --- lock and guarded writes --------------------------------------------------------------------------------

    async def take_lock(self, round: int) -> bool:
        """Takes the lock of this round; False when somebody else was faster. Unknown outcomes are read back."""
        octets = msgspec.json.encode({"owner": self.name})
        generation = self.path("generation")
        changes: list[Change] = [
            Check(generation, round),
            Check(INCARNATION, self.incarnation_version),
            Set(generation, msgspec.json.encode({"owner": self.name}), round),
            Create(self.path("lock"), octets, ephemeral=True),
            self.confirmations.change(round + 1, stopped=False),
        ]
        try:
            await self._coordination.multi(changes)
        except (NodeExists, BadVersion, NoNode):
            return False
        except ConnectionLoss:
            owner, session = await self.lock_owner()
            if owner != self.name or session != self._coordination.session:
                return False
        self.generation = round + 1
        return True

    def _lock_checks(self) -> list[Change]:
        """That the lock is there, and the one that we took: the generation counts acquisitions, so it names one as its creation id would."""
        return [Check(self.path("generation"), self.generation), Check(self.path("lock"), -1)]

    async def confirm_lock(self) -> None:
        """One write, which is the holder's heartbeat: that the lock is still ours (safety rule 16).

        Raises LostLock or ViewMoved when refused; ConnectionLoss when the outcome is unknown, which confirms nothing.
        """
        await self.guarded([self.confirmations.change(self.generation, stopped=False)])

    def stop_changes(self) -> list[Change]:
        """What gives the lock up and records that its holder answers nobody any more; only where that is so (safety rule 16)."""
        stopped = self.confirmations.change(self.generation, stopped=True)
        return [*self._lock_checks(), Delete(self.path("lock")), stopped]

    async def release_lock(self) -> None:
        """Gives the lock up if it is still the one we took; nothing is answered under it any more."""
        try:
            await self._coordination.multi(self.stop_changes())
        except (NoNode, BadVersion):
            pass

    async def drop_stale_lock(self, session: int) -> None:
        """Removes the lock that this server does not use: an earlier life of it left it behind, or what took it or gave it up was cut off.
        Nobody else runs under our name."""
        generation = await self.draw_round()
        stat = await self._coordination.exists(self.path("lock"))
        if stat is not None and stat.owner_session == session:
            try:
                await self._coordination.multi(
                    [Check(self.path("generation"), generation), Delete(self.path("lock"))]
                )
            except (NoNode, BadVersion):
                pass

    async def guarded(self, changes: list[Change]) -> None:
        """One transaction that also checks that our lock is still there (safety rule 17).

        Raises LostLock or ViewMoved when refused; ConnectionLoss when the outcome is unknown.
        """
        guard = self._lock_checks()
        if self._unguarded:
            guard, changes = [], [msgspec.structs.replace(change, version=-1) for change in changes]
        try:
            await self._coordination.multi(guard + changes)
        except (NoNode, BadVersion, NodeExists) as error:
            owner, session = await self.lock_owner()
            ours = owner == self.name and session == self._coordination.session
            refused = ViewMoved if ours and await self.draw_round() == self.generation else LostLock
            raise refused(f"the view refused a write: {type(error).__name__} {error}") from error

    def place_change(self, server: str, place: Place) -> Set:
        return Set(self.path("view", server), msgspec.json.encode(place))

    def epoch_change(self, epoch: int, version: int) -> Set:
        return Set(self.path("epoch"), msgspec.json.encode(EpochNode(epoch, self.name)), version)

    def configuration_change(self, configuration: Configuration, version: int) -> Set:
        return Set(self.path("configuration"), msgspec.json.encode(configuration), version)


__all__ = [
    "ACTIVE", "JUNIOR", "STANDBY", "Configuration", "CoordinationError", "Draw", "EpochNode", "GlobalView", "LostLock", "Place", "ViewMoved", "Watch",
]  # fmt: skip
