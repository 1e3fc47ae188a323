"""The actives of the other groups, as their global views name them."""

from __future__ import annotations

from nodes.config import MILLISECOND, ClusterConfig
from nodes.replicas.view import GlobalView, OneShotWatch
from nodes.wake import Wake
from nodes.wire.messages import Message
from nodes.world import CoordinationError, World, wait_at_most

LOOK_NS = 500 * MILLISECOND


class Neighbours:
    """Follows the epoch's node of every other group, for as long as the procedure runs."""

    def __init__(self, world: World, cluster: ClusterConfig, own: str):
        self._world = world
        self._groups = [group for group in cluster.groups if group.name != own]
        self._members = frozenset(name for group in self._groups for name in group.members)
        self._active: dict[int, str] = {}
        self._changed = Wake()

    def send(self, group: int, message: Message) -> None:
        """Sends a message to the active of the group, as far as it is known."""
        active = self._active.get(group)
        if active:
            self._world.network.send(active, message)

    def speaks(self, peer: str) -> bool:
        """Whether this peer is a server of another group: of its first configuration, or its active as far as is known."""
        return peer in self._members or peer in self._active.values()

    async def follow(self) -> None:
        views = {
            group.number: GlobalView(self._world.coordination, group.name, self._world.name, False)
            for group in self._groups
        }
        watches = {group.number: OneShotWatch(self._changed.set) for group in self._groups}
        while views:
            for number, view in views.items():
                try:
                    await self._look(number, view, watches[number])
                except CoordinationError:
                    watches[number].forget()
            await wait_at_most(self._world.clock, self._changed, LOOK_NS)

    async def _look(self, number: int, view: GlobalView, watch: OneShotWatch) -> None:
        node, _ = await view.epoch(watch)
        if node.active and node.active != self._active.get(number):
            self._world.network.know(node.active, await view.address(node.active))
            self._active[number] = node.active
