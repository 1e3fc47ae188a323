"""Authorization of commands to a data node: only metadata servers of a block's group are obeyed, and none of an earlier epoch than the known one.

The epoch that a configured server reports counts for its whole group. The epoch of a server that was added later (it is not in the configuration)
counts only while the server keeps sending messages. A writer reports the epoch in which its block was granted. That epoch counts for the block alone,
and only as long as an active may be silent: the writer may be wrong, and an active of that epoch soon sends messages itself.
"""

from __future__ import annotations

from nodes.config import SECOND
from nodes.servers.reporter import Reporter
from nodes.trace.events import Warned
from nodes.units import home_group
from nodes.world import World

WARNED_APART_NS = 1 * SECOND
GRANTED_MAX = 4_096
"""Blocks whose writers' epochs are remembered; beyond it, the oldest are forgotten."""


class CommandAuthorizer:
    """The authorization of one data node. `silence_ns`: time for which a writer's epoch counts for its block."""

    def __init__(self, world: World, reporters: dict[int, Reporter], silence_ns: int):
        self._world = world
        self._reporters = reporters
        self._silence_ns = silence_ns
        self._granted: dict[int, tuple[int, int]] = {}
        """By block: the epoch that its writer reported, and the time when it is forgotten; the oldest first."""
        self._warned_ns = -WARNED_APART_NS

    def granted(self, block: int, epoch: int) -> None:
        """Notes the epoch in which the block was granted, as its writer reports it."""
        now = self._world.clock.monotonic_ns()
        while self._granted and (
            len(self._granted) >= GRANTED_MAX or next(iter(self._granted.values()))[1] <= now
        ):
            del self._granted[next(iter(self._granted))]
        reporter = self._reporters.get(home_group(block))
        if reporter is not None and epoch > reporter.epoch:
            self._granted.pop(block, None)
            self._granted[block] = (epoch, now + self._silence_ns)

    def word(self, peer: str, group: int, epoch: int) -> bool:
        """Whether a server's message about its group is authorized. An unknown sender is reported once a second at most."""
        reporter = self._reporters.get(group)
        if reporter is None or peer not in reporter.servers:
            self._warn(peer, group)
            return False
        return reporter.on_epoch(peer, epoch)

    def command(self, peer: str, block: int, epoch: int) -> bool:
        """Whether a command about this block is authorized."""
        granted, until_ns = self._granted.get(block, (0, 0))
        if epoch < granted and self._world.clock.monotonic_ns() < until_ns:
            return False
        return self.word(peer, home_group(block), epoch)

    def _warn(self, peer: str, group: int) -> None:
        now = self._world.clock.monotonic_ns()
        if now >= self._warned_ns + WARNED_APART_NS:
            self._warned_ns = now
            line = f"commands like a metadata server of group {group}, and is none that is known here"
            self._world.trace.emit(Warned(f"{peer} {line}: it is not heeded"))
