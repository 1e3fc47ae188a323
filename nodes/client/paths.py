"""Resolution of paths that lead through several groups: from the dentry cache on by referral (CFS §4.4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container

from nodes.client.dentries import Dentries, depth_of
from nodes.client.pending_call import PendingCall
from nodes.client.retry import pause_ns
from nodes.errors import FsError
from nodes.metadata.effects import LOST
from nodes.metadata.lookup import TOP, Start
from nodes.metadata.operations import (
    AddBlock,
    Attributes,
    Complete,
    Create,
    Delete,
    Link,
    Made,
    Mkdir,
    Operation,
    Rename,
    Restamp,
)
from nodes.units import INCARNATION_SHIFT, home_group, is_directory
from nodes.wire.messages import Answer, Referred
from nodes.world import World

AT_PARENT = (Create, Mkdir, Delete, Rename, Link)
"""Operations that are carried out at the home of the path's parent; all others at the object's own home."""


class Paths:
    """The paths of one client, with its dentry cache. `stat` asks for the attributes of a path and raises FsError."""

    def __init__(
        self,
        world: World,
        groups: Container[int],
        dentries: Dentries,
        stat: Callable[[str], Awaitable[Answer]],
    ):
        self._world = world
        self._groups = groups
        self._dentries = dentries
        self._stat = stat

    @property
    def moves(self) -> int:
        """The count of directory moves under which the cache is valid."""
        return self._dentries.moves

    def learn_moves(self, moves: int) -> None:
        """A single group was rolled back."""
        self._dentries.forget_all(moves)

    def learn_result(self, operation: Operation, answer: Answer, moves: int) -> None:
        """Learns from an answer. The operation may have been carried out as early as the call was first sent."""
        if type(operation) is Mkdir and isinstance(answer.result, Made):
            start = Start(answer.result.inode, depth_of(operation.path))
            self._dentries.learn(operation.path, start, moves)
        elif type(operation) is Delete:
            self._dentries.gone(operation.path)

    async def resolve_path(self, pending: PendingCall) -> Answer | None:
        """Begins the resolution again from the dentry cache. Returns an answer when the new name of a rename or link cannot be resolved."""
        operation = pending.operation
        pending.resolved_ns, pending.moves = 0, self._dentries.moves
        if isinstance(operation, AddBlock | Complete | Restamp):
            pending.group = home_group(operation.inode)
            return None
        path = operation.old if isinstance(operation, Rename | Link) else operation.path  # type: ignore[union-attr]
        pending.starts = [self._start(pending, path)]
        pending.group = home_group(pending.starts[0].inode)
        if isinstance(operation, Rename | Link):
            parent = operation.new.rpartition("/")[0]
            if self._dentries.start(parent, depth_of(parent)).depth != depth_of(parent):
                try:
                    await self._resolve(parent)
                except FsError as error:
                    if error.name == "ETIMEDOUT":
                        return None
                    return _failed(pending, error)
            pending.moves = self._dentries.moves
            pending.starts = [
                self._start(pending, path),
                self._dentries.start(parent, depth_of(parent)),
            ]
            pending.group = home_group(pending.starts[0].inode)
        return None

    def _start(self, pending: PendingCall, path: str) -> Start:
        """After an inode on the path has ended, every name is looked up anew: what other calls have put into the cache may be older."""
        if pending.ended[0]:
            return TOP
        return self._dentries.start(path, depth_of(path) - (1 if type(pending.operation) in AT_PARENT else 0))

    async def _resolve(self, path: str) -> None:
        """Resolves a directory into the dentry cache. Raises FsError."""
        moves = self._dentries.moves
        attributes = (await self._stat(path)).result
        assert isinstance(attributes, Attributes)
        if attributes.kind != "directory":
            raise FsError("ENOTDIR", path)
        self._dentries.learn(path, Start(attributes.inode, depth_of(path)), moves)

    async def follow(self, pending: PendingCall, referred: Referred) -> Answer | None:
        """The call continues at the referred place, or its resolution begins again. Returns an answer when its path cannot be resolved."""
        incarnation, start = referred.moves >> INCARNATION_SHIFT, referred.start
        leads_there = start is not None and pending.ended == (start.inode, incarnation)
        if leads_there and not referred.path and referred.moves >= self.moves:
            # A name is locked before its inode ends, and goes when it is unlocked: one that still leads there will always do.
            return _failed(pending, FsError("EIO", LOST))
        if referred.ended:
            pending.ended = (referred.ended, incarnation)
        return None if await self._goes_on(pending, referred) else await self.resolve_path(pending)

    async def _goes_on(self, pending: PendingCall, referred: Referred) -> bool:
        """Whether the call continues at the referred place."""
        operation, start = pending.operation, referred.start
        if isinstance(operation, AddBlock | Complete | Restamp):
            self._dentries.forget_all(referred.moves)
            return False
        paths = (operation.old, operation.new) if isinstance(operation, Rename | Link) else (operation.path,)  # type: ignore[union-attr]
        path = paths[min(referred.path, len(paths) - 1)]
        if start is None or not self._dentries.learn(path, start, referred.moves):
            for each in paths:
                self._dentries.forget(each)
            if referred.moves <= self._dentries.moves:
                await self._world.clock.sleep(pause_ns(pending.tries, self._world.rng))
            self._dentries.forget_all(referred.moves)
            return False
        if referred.path or (len(pending.starts) > 1 and pending.moves != referred.moves):
            return False
        pending.moves = referred.moves
        pending.resolved_ns = 0 if is_directory(start.inode) else referred.at_ns
        pending.starts = [start, *pending.starts[1:]]
        pending.group = home_group(start.inode)
        return pending.group in self._groups


def _failed(pending: PendingCall, error: FsError) -> Answer:
    return Answer("", pending.number, 0, 0, 0, None, str(error))
