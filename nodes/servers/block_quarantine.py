"""A data node's rollback to a checkpoint with a group: it quarantines the replicas of blocks behind the barrier (CFS §4.3; safety rule 14).

The active sends the numbers of these blocks. The node stores nothing about it: a node that starts, or returns after a long sleep, receives
the numbers with the first heartbeat acknowledgement.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from nodes.servers.stages import Stages
from nodes.storage.block_store import BlockStore
from nodes.trace.block_events import BlocksSetAside, ReplicaRemoved
from nodes.trace.events import Warned
from nodes.units import home_group
from nodes.wire.data_messages import Void
from nodes.world import World


@dataclass(eq=False)
class SettingAside:
    """The rollbacks of all groups. `changed(block)` is called for every replica that is quarantined; `names`: group by number."""

    _world: World
    _store: BlockStore
    _stages: Stages
    _changed: Callable[[int], None]
    _names: dict[int, str]
    _void: dict[int, Void] = field(default_factory=dict, init=False)
    _under_way: set[int] = field(default_factory=set, init=False)
    _went_back: dict[int, int] = field(default_factory=dict, init=False)
    """By group: the incarnation whose rollback is complete."""

    def is_void(self, block: int) -> bool:
        """Whether the block does not belong to its group's past, so that it may not be written any more."""
        return block in self._void.get(home_group(block), Void())

    def on_received(self, group: int, void: Void) -> None:
        """Handles the active's list of void blocks. A rollback that a failing disk left incomplete is repeated with the next list."""
        if void.incarnation > self._went_back.get(group, 0) and group not in self._under_way:
            self._void[group] = void
            self._under_way.add(group)
            self._world.scope.spawn(self._go_back(group, void), "setting aside")

    async def _go_back(self, group: int, void: Void) -> None:
        blocks = size = 0
        for block in self._stages.blocks():
            if home_group(block) == group and block in void:
                self._stages.end(block)
        try:
            for block in [each for each in self._store.replicas if home_group(each) == group]:
                if block in void and block in self._store.replicas:
                    size += await self._set_aside(block)
                    blocks += 1
            self._went_back[group] = void.incarnation
            self._world.trace.emit(BlocksSetAside(self._names[group], void.incarnation, blocks, size))
        except OSError as error:
            self._world.trace.emit(
                Warned(f"what came after the checkpoint is not set aside: {error.strerror}")
            )
        finally:
            self._under_way.discard(group)

    async def _set_aside(self, block: int) -> int:
        """Quarantines a replica; returns its size in bytes. Raises OSError."""
        replica = self._store.replicas[block]
        size = await self._store.set_aside(block)
        self._world.trace.emit(ReplicaRemoved(block, replica.stamp, "set aside"))
        self._changed(block)
        return size
