"""The global view of one replica group in the coordination service (CFS §3.3, §4.2; safety rules 3 and 17)."""

from __future__ import annotations

import msgspec

from nodes.replicas.confirmations import Confirmations
from nodes.replicas.watch import OneShotWatch
from nodes.world import (
    BadVersion,
    Change,
    CheckNode,
    ConnectionLoss,
    Coordination,
    CoordinationError,
    CreateNode,
    DeleteNode,
    NodeExists,
    NodeStat,
    NoNode,
    SetNode,
    decoded,
    ensure,
)

INCARNATION = "/cloverlab/incarnation"
"""Node of the whole cluster's incarnation. A server of an earlier incarnation takes no lock (safety rule 14)."""
ACTIVE, STANDBY, JUNIOR = "active", "standby", "junior"


class ServerPlace(msgspec.Struct, frozen=True, omit_defaults=True):
    """A server's place in the view."""

    state: str
    epoch: int
    sn: int
    disk: int = 0
    """Instance of the disk for which the place was written, in families whose members count by it; the server may have another one since."""


class EpochNode(msgspec.Struct, frozen=True):
    epoch: int
    active: str


class Configuration(msgspec.Struct, frozen=True):
    """The replicas that count in N: a persistent numbered record, independent of which servers are alive (safety rule 3)."""

    number: int
    members: list[str]
    initial: int
    disks: dict[str, int] = {}
    """Disk of each member that has all that was acknowledged; empty before the group first serves (safety rule 23)."""

    @property
    def write_quorum(self) -> int:
        return len(self.members) // 2 + 1

    def has_write_quorum(self, names: list[str]) -> bool:
        return sum(member in names for member in self.members) >= self.write_quorum

    @property
    def read_quorum(self) -> int:
        """Size of a read quorum: every write quorum meets every set of so many members."""
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


class LockOwner(msgspec.Struct, frozen=True):
    """Content of the lock, and of its generation."""

    owner: str


class LostLock(Exception):
    """A guarded write was refused: the lock, its generation or the epoch no longer belongs to this server."""


class ViewMoved(Exception):
    """A guarded write was refused although this server still has the lock: the state from which it was computed has changed."""


class GlobalView:
    """Reads and guarded writes of the view by one server.

    Many methods: one reads and one writes each node of the view.
    """

    def __init__(self, coordination: Coordination, group: str, name: str, unguarded: bool):
        self._coordination = coordination
        self._unguarded = unguarded
        self.name = name
        self.root = f"/cloverlab/groups/{group}"
        self.group = group
        self.confirmations = Confirmations(coordination, self.path("confirmations"), name)
        self.generation = -1
        """Version of the generation node that this server's acquisition of the lock made; it identifies the lock."""
        self.incarnation_version = -1
        """Version of the incarnation node when this server was last known to live in that incarnation."""

    def path(self, *parts: str) -> str:
        return "/".join((self.root, *parts))

    async def prepare(self, members: list[str], address: str) -> None:
        """Creates the group's missing nodes and registers this server's address."""
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
        data = msgspec.json.encode(content)
        while True:
            try:
                await self._coordination.multi([SetNode(path, data)])
                return
            except NoNode:
                pass
            try:
                await self._coordination.multi([CreateNode(path, data, ephemeral)])
                return
            except NodeExists:
                continue

    # --- reading -----------------------------------------------------------------------------------------------

    async def epoch(self, watch: OneShotWatch | None = None) -> tuple[EpochNode, int]:
        data, stat = await self._coordination.get(self.path("epoch"), watch.arm() if watch else None)
        return decoded(self.path("epoch"), data, EpochNode), stat.version

    async def lock_owner(self, watch: OneShotWatch | None = None) -> tuple[str, int]:
        """(owner, session) of the lock; ("", 0) when no server holds it."""
        found = await self._find(self.path("lock"), watch)
        if found is None:
            return "", 0
        return decoded(self.path("lock"), found[0], LockOwner).owner, found[1].owner_session

    async def place(
        self, server: str, watch: OneShotWatch | None = None
    ) -> tuple[ServerPlace, NodeStat] | None:
        path = self.path("view", server)
        found = await self._find(path, watch)
        return None if found is None else (decoded(path, found[0], ServerPlace), found[1])

    async def _find(self, path: str, watch: OneShotWatch | None) -> tuple[bytes, NodeStat] | None:
        """Reads a node that may not exist; then the watch waits for its creation."""
        callback = watch.arm() if watch else None
        try:
            return await self._coordination.get(path, callback)
        except NoNode:
            # A failed read leaves no watch, but this call does.
            if callback is None or await self._coordination.exists(path, callback) is None:
                return None
        try:
            return await self._coordination.get(path)
        except NoNode:
            return None

    async def places(self) -> dict[str, ServerPlace]:
        """Places of all servers that have one, by name in order."""
        found: dict[str, ServerPlace] = {}
        for server in await self._coordination.children(self.path("view")):
            place = await self.place(server)
            if place is not None:
                found[server] = place[0]
        return found

    async def configuration(self) -> tuple[Configuration, int]:
        """The last committed configuration, read after a sync, and its version."""
        await self._coordination.sync(self.root)
        path = self.path("configuration")
        data, stat = await self._coordination.get(path)
        return decoded(path, data, Configuration), stat.version

    async def address(self, server: str, watch: OneShotWatch | None = None) -> str:
        path, callback = f"/cloverlab/servers/{server}", watch.arm() if watch else None
        try:
            data, _ = await self._coordination.get(path, callback)
        except NoNode:
            if watch is not None:
                watch.forget()
            return ""
        return decoded(path, data, Registration).address

    async def known_servers(self, watch: OneShotWatch | None = None) -> list[str]:
        return await self._coordination.children("/cloverlab/servers", watch.arm() if watch else None)

    async def registered(self) -> list[str]:
        """Every server that ever belonged to this group, dead or alive."""
        found: list[str] = []
        for server in await self.known_servers():
            path = f"/cloverlab/servers/{server}"
            data, _ = await self._coordination.get(path)
            if decoded(path, data, Registration).group == self.group:
                found.append(server)
        return found

    # --- own place and draws ------------------------------------------------------------------------------------

    async def take_place(self, place: ServerPlace) -> None:
        """Creates this server's place under its present session; a place of an earlier session is removed first."""
        path = self.path("view", self.name)
        data = msgspec.json.encode(place)
        while True:
            stat = await self._coordination.exists(path)
            if stat is not None and stat.owner_session == self._coordination.session:
                await self._coordination.multi([SetNode(path, data)])
                return
            changes: list[Change] = [CreateNode(path, data, ephemeral=True)]
            if stat is not None:
                changes.insert(0, DeleteNode(path, stat.version))
            try:
                await self._coordination.multi(changes)
                return
            except (NodeExists, NoNode, BadVersion):
                continue

    async def _delete(self, path: str) -> None:
        try:
            await self._coordination.multi([DeleteNode(path)])
        except NoNode:
            pass

    async def draw_round(self) -> int:
        """The number of the present round, which is the lock's generation: it rises with every acquisition."""
        _, stat = await self._coordination.get(self.path("generation"))
        return stat.version

    async def write_draw(self, draw: Draw) -> None:
        path = self.path("draws", self.name)
        stat = await self._coordination.exists(path)
        if stat is not None and stat.owner_session != self._coordination.session:
            await self._delete(path)
        await self._put(path, draw, ephemeral=True)

    async def draws(self, round: int, watch: OneShotWatch | None = None) -> dict[str, Draw]:
        found: dict[str, Draw] = {}
        callback = watch.arm() if watch else None
        for server in await self._coordination.children(self.path("draws"), callback):
            path = self.path("draws", server)
            try:
                data, _ = await self._coordination.get(path)
            except NoNode:
                continue
            draw = decoded(path, data, Draw)
            if draw.round == round:
                found[server] = draw
        return found

    # --- lock and guarded writes --------------------------------------------------------------------------------

    async def take_lock(self, round: int) -> bool:
        """Takes the lock of this round; False when another server was faster. An unknown outcome is read back."""
        data = msgspec.json.encode(LockOwner(self.name))
        generation = self.path("generation")
        changes: list[Change] = [
            CheckNode(generation, round),
            CheckNode(INCARNATION, self.incarnation_version),
            SetNode(generation, data, round),
            CreateNode(self.path("lock"), data, ephemeral=True),
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
        """Checks that the lock exists and is the one that this server took. The generation counts acquisitions, so it identifies a lock as its
        creation id would."""
        return [CheckNode(self.path("generation"), self.generation), CheckNode(self.path("lock"), -1)]

    async def confirm_lock(self) -> None:
        """One write, the holder's heartbeat: confirms that this server still has the lock (safety rule 16).

        Raises LostLock or ViewMoved when refused; ConnectionLoss when the outcome is unknown, which confirms nothing.
        """
        await self.guarded([self.confirmations.change(self.generation, stopped=False)])

    def stop_changes(self) -> list[Change]:
        """Changes that release the lock and record that its holder sends no more answers. Only for a holder that sends none (safety rule 16)."""
        stopped = self.confirmations.change(self.generation, stopped=True)
        return [*self._lock_checks(), DeleteNode(self.path("lock")), stopped]

    async def release_lock(self) -> None:
        """Releases the lock if it is still the one that this server took; no answer is sent under it any more."""
        try:
            await self._coordination.multi(self.stop_changes())
        except (NoNode, BadVersion):
            pass

    async def remove_lock(self, generation: int) -> bool:
        """Removes the lock of this generation, whose holder is suspected; False when it is gone or a later one was taken."""
        try:
            await self._coordination.multi(
                [CheckNode(self.path("generation"), generation), DeleteNode(self.path("lock"))]
            )
            return True
        except (NoNode, BadVersion):
            return False

    async def drop_stale_lock(self, session: int) -> None:
        """Removes a lock that this server does not use: an earlier life left it, or its taking or release was interrupted. No other server has
        this name."""
        generation = await self.draw_round()
        stat = await self._coordination.exists(self.path("lock"))
        if stat is not None and stat.owner_session == session:
            await self.remove_lock(generation)

    async def guarded(self, changes: list[Change]) -> None:
        """One transaction that also checks that this server's lock still exists (safety rule 17).

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

    def place_change(self, server: str, place: ServerPlace) -> SetNode:
        return SetNode(self.path("view", server), msgspec.json.encode(place))

    def epoch_change(self, epoch: int, version: int) -> SetNode:
        return SetNode(self.path("epoch"), msgspec.json.encode(EpochNode(epoch, self.name)), version)

    def configuration_change(self, configuration: Configuration, version: int) -> SetNode:
        return SetNode(self.path("configuration"), msgspec.json.encode(configuration), version)


__all__ = [
    "ACTIVE",
    "JUNIOR",
    "STANDBY",
    "Configuration",
    "CoordinationError",
    "Draw",
    "EpochNode",
    "GlobalView",
    "LostLock",
    "OneShotWatch",
    "ServerPlace",
    "ViewMoved",
]  # fmt: skip
