"""Checkpoints, and recoveries to them, as the coordination service records them.

Each checkpoint has one node. Its outcome is a single compare-and-set PENDING → COMPLETE or VOID (safety rule 13). The version of the parent node
counts every change, so that two changes never cross. One node holds the incarnation, which rises with every recovery (safety rule 14).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import msgspec

from nodes.config import MILLISECOND
from nodes.replicas.view import INCARNATION, JUNIOR, Configuration, EpochNode, GlobalView, OneShotWatch
from nodes.units import GROUP_SHIFT, INCARNATION_SHIFT, home_group
from nodes.wire.messages import Mark
from nodes.world import (
    BadVersion,
    Change,
    CheckNode,
    ConnectionLoss,
    CreateNode,
    DeleteNode,
    NodeExists,
    NoNode,
    SetNode,
    World,
    decoded,
    ensure,
)

PENDING, COMPLETE, VOID, ASIDE = "pending", "complete", "void", "aside"
"""An `aside` checkpoint was complete until a recovery rolled back to an earlier one."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
CHECKPOINTS_MAX = 1_000
VOID_RANGES_MAX = 256
"""Largest number of void ranges of one group. A data node that slept since a dropped range removes its blocks as free ones."""
INCARNATIONS_MAX = 1 << 14
"""Largest number of incarnations. Each takes a share of the inode numbers."""
READ_AGAIN_NS = 50 * MILLISECOND
TRIES = 10
ROOT = "/cloverlab/checkpoints"


class LedgerRefused(Exception):
    """A request that cannot be granted; one line gives the reason."""


class Barrier(msgspec.Struct, frozen=True):
    """The position of a checkpoint in the journal of one group."""

    mark: Mark
    digest: str
    next_block: int = 0
    """Every block that the namespace at the barrier names has a lower number."""


class Checkpoint(msgspec.Struct, frozen=True):
    name: str
    number: int
    """Sequence number of the checkpoint, from 1, in the order in which markings began."""
    state: str
    incarnation: int
    time_server: str
    epochs: dict[str, int]
    """Epoch of each group when the marking began. A failover makes the checkpoint void."""
    stamp_ns: int = 0
    """The time of the barrier on which the groups agreed; 0 while the checkpoint is pending."""
    barriers: dict[str, Barrier] = {}
    """Barriers by group, once the checkpoint is complete."""


class Incarnation(msgspec.Struct, frozen=True):
    """The count of the cluster's rollbacks, and the checkpoint of the last one."""

    number: int
    checkpoint: str = ""
    barriers: dict[str, Barrier] = {}
    epochs: dict[str, int] = {}
    void: dict[str, list[tuple[int, int]]] = {}
    """Ranges of block numbers by group that do not belong to this incarnation's past."""


class EpochRead(msgspec.Struct, frozen=True):
    """One group's epoch node as it was read."""

    epoch: int
    active: str
    version: int


Require = Callable[[Checkpoint, dict[str, Configuration]], Awaitable[None]]
"""A check of these members of each group before a recovery to this checkpoint. Raises LedgerRefused."""


class CheckpointLedger:
    """One server's reads and writes of the ledger."""

    def __init__(self, world: World, groups: list[str]):
        self._world = world
        self._coordination = world.coordination
        self._views = {group: GlobalView(world.coordination, group, world.name, False) for group in groups}

    async def prepare(self) -> None:
        """Creates the nodes that do not exist yet."""
        await ensure(self._coordination, ROOT)
        await ensure(self._coordination, INCARNATION, msgspec.json.encode(Incarnation(0)))

    # --- reading ---------------------------------------------------------------------------------------------------

    async def incarnation(self, watch: OneShotWatch | None = None) -> tuple[Incarnation, int]:
        data, stat = await self._coordination.get(INCARNATION, watch.arm() if watch else None)
        return decoded(INCARNATION, data, Incarnation), stat.version

    async def find(self, name: str) -> Checkpoint | None:
        """The checkpoint of this name. None also for an invalid name, which would be the path of another node."""
        if not NAME.fullmatch(name):
            return None
        path = f"{ROOT}/{name}"
        try:
            data, _ = await self._coordination.get(path)
        except NoNode:
            return None
        return decoded(path, data, Checkpoint)

    async def version(self) -> int:
        """A version that rises with every change of any checkpoint."""
        return (await self._coordination.get(ROOT))[1].version

    async def all(self) -> list[Checkpoint]:
        """All checkpoints in the order in which their markings began."""
        names = await self._coordination.children(ROOT)
        found = [await self.find(name) for name in names]
        return sorted((each for each in found if each is not None), key=lambda each: each.number)

    async def groups(self) -> dict[str, EpochRead]:
        """The epoch and the active of every group. Afterwards each active can be sent messages. Raises LedgerRefused."""
        seen: dict[str, EpochRead] = {}
        for group, view in self._views.items():
            try:
                node, version = await view.epoch()
            except NoNode:
                node, version = EpochNode(0, ""), 0
            if not node.active:
                raise LedgerRefused(f"group {group} has no active now")
            if node.active != self._world.name:
                self._world.network.know(node.active, await view.address(node.active))
            seen[group] = EpochRead(node.epoch, node.active, version)
        return seen

    # --- marking ---------------------------------------------------------------------------------------------------

    async def begin(self, name: str, groups: dict[str, EpochRead]) -> Checkpoint:
        """A new PENDING checkpoint. Raises LedgerRefused; ConnectionLoss when it may have begun."""
        checked_name(name)
        version = await self.version()
        known = await self.all()
        if any(each.name == name for each in known):
            raise LedgerRefused(f"the name {name} is taken")
        pending = next((each.name for each in known if each.state == PENDING), "")
        if pending:
            raise LedgerRefused(f"checkpoint {pending} is being marked")
        if len(known) >= CHECKPOINTS_MAX:
            raise LedgerRefused(f"{CHECKPOINTS_MAX} checkpoints are the most there can be")
        number = max((each.number for each in known), default=0) + 1
        incarnation, _ = await self.incarnation()
        epochs = {group: seen.epoch for group, seen in groups.items()}
        new = Checkpoint(name, number, PENDING, incarnation.number, self._world.name, epochs)
        changes = [
            SetNode(ROOT, b"", version),
            *self._same_epochs(groups),
            CreateNode(f"{ROOT}/{name}", msgspec.json.encode(new)),
        ]
        try:
            await self._coordination.multi(changes)
        except (BadVersion, NodeExists, NoNode):
            raise LedgerRefused("the cluster has just changed: ask again") from None
        return new

    def _same_epochs(self, groups: dict[str, EpochRead]) -> list[Change]:
        return [CheckNode(self._views[group].path("epoch"), seen.version) for group, seen in groups.items()]

    async def complete(
        self, pending: Checkpoint, stamp_ns: int, barriers: dict[str, Barrier], groups: dict[str, EpochRead]
    ) -> str:
        """Tries COMPLETE, provided that no group's epoch has changed; returns the decided outcome, whichever server decided it."""
        done = msgspec.structs.replace(pending, state=COMPLETE, stamp_ns=stamp_ns, barriers=barriers)
        return await self._decide(done, self._same_epochs(groups))

    async def void(self, name: str) -> str:
        """Tries VOID; returns the decided outcome, whichever server decided it; empty when there is no such checkpoint."""
        pending = await self._known(name)
        if pending is None or pending.state != PENDING:
            return pending.state if pending else ""
        return await self._decide(msgspec.structs.replace(pending, state=VOID), [])

    async def _decide(self, decided: Checkpoint, also: list[Change]) -> str:
        """The single compare-and-set, on the node's second version. An unknown outcome is read back until it is known."""
        change = SetNode(f"{ROOT}/{decided.name}", msgspec.json.encode(decided), 0)
        while True:
            try:
                await self._coordination.multi([change, *also, SetNode(ROOT, b"")])
                return decided.state
            except (BadVersion, NoNode, ConnectionLoss):
                found = await self._known(decided.name)
            if found is None or found.state != PENDING:
                return found.state if found else ""
            if also:
                return await self.void(decided.name)

    async def _known(self, name: str) -> Checkpoint | None:
        """Reads until there is an answer."""
        while True:
            try:
                return await self.find(name)
            except ConnectionLoss:
                await self._world.clock.sleep(READ_AGAIN_NS)

    async def void_begun(self, name: str) -> None:
        """Voids the checkpoint that this time server may have begun. Raises CoordinationError."""
        await self._coordination.sync(ROOT)
        found = await self._known(name)
        if found is not None and found.time_server == self._world.name:
            await self.void(name)

    async def void_pending(self) -> None:
        """Voids every pending checkpoint. An upgrading server calls this because its group has changed its epoch."""
        await self._coordination.sync(ROOT)
        for each in await self.all():
            if each.state == PENDING:
                await self.void(each.name)

    # --- deletion --------------------------------------------------------------------------------------------------

    async def delete(self, name: str) -> None:
        """Deletes the checkpoint; its images, journal and blocks are no longer kept. Raises LedgerRefused."""
        for _ in range(TRIES):
            version = await self.version()
            deletable(name, await self.all())
            incarnation, _ = await self.incarnation()
            if incarnation.checkpoint == name and not await self._has_arrived(incarnation):
                raise LedgerRefused(
                    f"the cluster is going back to {name} just now: ask again when every group serves"
                )
            try:
                await self._coordination.multi([SetNode(ROOT, b"", version), DeleteNode(f"{ROOT}/{name}")])
                return
            except (BadVersion, NoNode):
                continue
            except ConnectionLoss:
                await self._world.clock.sleep(READ_AGAIN_NS)
                if await self._known(name) is None:
                    return
        raise LedgerRefused("the cluster keeps changing: ask again")

    async def _has_arrived(self, incarnation: Incarnation) -> bool:
        """Whether a write quorum of every group has rolled back and is in step again."""
        for view in self._views.values():
            configuration, _ = await view.configuration()
            places = await view.places()
            there = [
                name for name in configuration.members if name in places and places[name].state != JUNIOR
            ]
            if len(there) < configuration.write_quorum:
                return False
        return await self.serves(incarnation)

    # --- recovery --------------------------------------------------------------------------------------------------

    async def recover(self, name: str, require: Require) -> Incarnation:
        """One transaction rolls the whole cluster back: a new incarnation, new epochs, no lock and no place is held. Raises LedgerRefused.

        `require` refuses when too few members could roll back. The transaction fails if the members have changed since.
        """
        for _ in range(TRIES):
            version = await self.version()
            known = await self.all()
            goal = recoverable(name, known)
            old, old_version = await self.incarnation()
            if old.number >= INCARNATIONS_MAX:
                raise LedgerRefused(f"{INCARNATIONS_MAX} recoveries are the most there can be")
            members, same_members = await self._members()
            await require(goal, members)
            changes: list[Change] = [SetNode(ROOT, b"", version), *same_members]
            later = [each for each in known if each.state == COMPLETE and each.number > goal.number]
            for each in later:
                aside = msgspec.json.encode(msgspec.structs.replace(each, state=ASIDE))
                changes.append(SetNode(f"{ROOT}/{each.name}", aside, 1))
            epochs: dict[str, int] = {}
            for group, view in self._views.items():
                node, group_changes = await self._dethrone(view)
                epochs[group] = node.epoch + 1
                changes += group_changes
            void = {
                group: void_ranges(old.void.get(group, []), barrier.next_block, old.number + 1)
                for group, barrier in goal.barriers.items()
            }
            new = Incarnation(old.number + 1, name, goal.barriers, epochs, void)
            changes.append(SetNode(INCARNATION, msgspec.json.encode(new), old_version))
            try:
                await self._coordination.multi(changes)
                return new
            except (BadVersion, NoNode, NodeExists):
                continue
            except ConnectionLoss:
                found = await self._known_incarnation()
                if found == new:
                    return new
                if found.number >= new.number:
                    raise LedgerRefused(
                        f"the cluster went back to {found.checkpoint} just now: ask again"
                    ) from None
        raise LedgerRefused("the cluster keeps changing: ask again")

    async def _known_incarnation(self) -> Incarnation:
        """Reads until there is an answer."""
        while True:
            await self._world.clock.sleep(READ_AGAIN_NS)
            try:
                await self._coordination.sync(INCARNATION)
                return (await self.incarnation())[0]
            except ConnectionLoss:
                continue

    async def serves(self, incarnation: Incarnation) -> bool:
        """Whether every group has begun an epoch of this incarnation."""
        for group, view in self._views.items():
            node, _ = await view.epoch()
            if node.epoch <= incarnation.epochs[group]:
                return False
        return True

    async def _members(self) -> tuple[dict[str, Configuration], list[Change]]:
        """The members that count in every group, and the checks that fail when these have changed since."""
        found = {group: await view.configuration() for group, view in self._views.items()}
        checks: list[Change] = [
            CheckNode(self._views[group].path("configuration"), version)
            for group, (_, version) in found.items()
        ]
        return {group: configuration for group, (configuration, _) in found.items()}, checks

    async def _dethrone(self, view: GlobalView) -> tuple[EpochNode, list[Change]]:
        """Changes that end every role in one group, and every attempt to take its lock."""
        node, version = await view.epoch()
        round = await view.draw_round()
        changes: list[Change] = [
            SetNode(view.path("epoch"), msgspec.json.encode(EpochNode(node.epoch + 1, "")), version),
            SetNode(view.path("generation"), msgspec.json.encode({"owner": ""}), round),
        ]
        if (await view.lock_owner())[0]:
            changes.append(DeleteNode(view.path("lock")))
        changes += [DeleteNode(view.path("view", server)) for server in await view.places()]
        return node, changes


def void_ranges(before: list[tuple[int, int]], next_block: int, incarnation: int) -> list[tuple[int, int]]:
    """Block numbers from the barrier up to the start of the new incarnation are void, and so are those already void at the barrier."""
    first = home_group(next_block) << GROUP_SHIFT | incarnation << INCARNATION_SHIFT
    return [*(each for each in before if each[0] < next_block), (next_block, first)][-VOID_RANGES_MAX:]


def deletable(name: str, known: list[Checkpoint]) -> Checkpoint:
    """The checkpoint of this name, unless it is being marked. Raises LedgerRefused."""
    found = next((each for each in known if each.name == name), None)
    if found is None:
        raise _unknown(name, known)
    if found.state == PENDING:
        raise LedgerRefused(f"checkpoint {name} is being marked")
    return found


def _unknown(name: str, known: list[Checkpoint]) -> LedgerRefused:
    there = ", ".join([each.name for each in known if each.state == COMPLETE][-10:])
    return LedgerRefused(f"no checkpoint is called {name[:63]!r}; there are {there or 'none'}")


def recoverable(name: str, known: list[Checkpoint]) -> Checkpoint:
    """The complete checkpoint of this name. Raises LedgerRefused."""
    pending = next((each.name for each in known if each.state == PENDING), "")
    if pending:
        raise LedgerRefused(f"checkpoint {pending} is being marked")
    found = next((each for each in known if each.name == name), None)
    if found is None:
        raise _unknown(name, known)
    if found.state == VOID:
        raise LedgerRefused(f"checkpoint {name} is void: it was never written by all groups")
    if found.state == ASIDE:
        raise LedgerRefused(f"checkpoint {name} was set aside by a recovery to an earlier one")
    return found


def checked_name(name: str) -> str:
    """Raises LedgerRefused."""
    if not NAME.fullmatch(name):
        raise LedgerRefused(
            f"{name[:63]!r} is no name: 1 to 63 letters, digits, dots, dashes and underscores"
        )
    return name
