"""A server leaves its group for good: first the configuration, then its process, then the record of the cluster.

The group's leader removes it from the configuration as soon as that can lose nothing (CFS §4.1.2). An interruption leaves a server that can join
again, or one that is down; the removal can be repeated.
"""

from __future__ import annotations

import asyncio
import time

import msgspec

from backend.errors import FaultImpossible, Impossible, Unavailable
from backend.fabrics.fabric import ClusterFabric
from backend.fabrics.watched_cluster import wait_until
from backend.names import CONTROL
from nodes.families import family_named
from nodes.trace.events import ServerRemoved

PATIENCE_S = 20.0
LOOK_S = 0.1
GROUPS = "/cloverlab/groups"


class CountedConfiguration(msgspec.Struct):
    """The part of a group's configuration that is read here."""

    members: list[str]


class Removal:
    """Of one server. Raises FaultImpossible when its family has no removals."""

    def __init__(self, fabric: ClusterFabric, name: str):
        self._fabric = fabric
        self._name = name
        self._group = fabric.home.servers()[name]
        protocol = fabric.home.file.cluster.protocol
        reason = family_named(protocol).cannot_leave
        if reason:
            raise FaultImpossible(f"{name} is not removed from {protocol}: {reason}")

    async def carry_out(self) -> None:
        """Returns when the cluster goes on without the server. Raises Impossible with the reason when it must stay, Unavailable."""
        deadline = time.monotonic() + PATIENCE_S
        placed = True
        while True:
            left = not placed
            members, placed = await self._stands()
            # A server without a place is not added to the configuration, so it is out when a later look finds it in neither.
            if left and not placed and self._name not in members:
                break
            if self._name not in members:
                await self._stop()
            elif not await self._order() and time.monotonic() > deadline:
                raise Unavailable(
                    f"{self._group} has no leader that could let {self._name} leave; repeat it later"
                )
            if time.monotonic() > deadline:
                raise Unavailable(self._state(members))
            await asyncio.sleep(LOOK_S)
        self._fabric.home.remove_server(self._name)
        self._fabric.report(CONTROL, ServerRemoved(self._name, self._group))
        await wait_until(lambda: self._name not in self._fabric.picture.servers, PATIENCE_S)

    def _state(self, members: list[str]) -> str:
        if self._name in members:
            return f"{self._name} still counts in {self._group}: too few of {', '.join(members)} are in step; repeat it later"
        return f"the session of {self._name} has not ended yet; repeat it later"

    async def _stands(self) -> tuple[list[str], bool]:
        """The recorded members of the group, and whether the server has a place in the view. Raises Unavailable."""
        root = f"{GROUPS}/{self._group}"
        nodes = {node["path"]: node["data"] for node in await self._fabric.ensemble.nodes()}
        recorded = nodes.get(f"{root}/configuration")
        members = msgspec.json.decode(recorded, type=CountedConfiguration).members if recorded else []
        return members, f"{root}/view/{self._name}" in nodes

    async def _order(self) -> bool:
        """Orders the leader to let the server leave; False without a leader. Raises Impossible when the server must stay, Unavailable."""
        leader = self._fabric.picture.groups[self._group].lock_owner
        if leader == self._name:
            raise Impossible(f"{leader} leads {self._group}: hand its role over first")
        if self._fabric.state_of(leader) != "running":
            return False
        if not (await self._fabric.ask(leader, {"do": "standing"}))["serves"]:
            return False
        answer = await self._fabric.ask(leader, {"do": "remove", "server": self._name})
        if answer["refused"]:
            raise Impossible(f"{self._name} stays: {answer['refused']}")
        return True

    async def _stop(self) -> None:
        process = self._fabric.process(self._name)
        if process is not None and process.running:
            self._fabric.ledger.begin("stop", [self._name], {})
            await process.stop()
