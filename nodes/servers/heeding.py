"""Whom a data node obeys: metadata servers of a block's group, and none of an earlier epoch than it has heard of.

A server's word of its epoch counts for its whole group; that of one which was added later (it is not in the configuration) while it goes on speaking.
A writer's, who tells the epoch in which its block was granted, counts for that block alone, and only for as long as an active may be silent: whoever
writes may be wrong, and an active of that epoch is heard soon.
"""

from __future__ import annotations

from nodes.config import SECOND
from nodes.servers.reporting import Reporter
from nodes.trace.events import Warned
from nodes.units import home_group
from nodes.world import World

WARNED_APART_NS = 1 * SECOND
GRANTED_MAX = 4_096
"""Blocks whose writers' words are remembered; of more, the oldest are forgotten."""


class Heeding:
    """`silence_ns`: how long a writer's word counts for its block."""

    def __init__(self, world: World, reporters: dict[int, Reporter], silence_ns: int):
        self._world = world
        self._reporters = reporters
        self._silence_ns = silence_ns
        self._granted: dict[int, tuple[int, int]] = {}
        """By block: the epoch that its writer told, and when that is forgotten; the oldest first."""
        self._warned_ns = -WARNED_APART_NS

    def granted(self, block: int, epoch: int) -> None:
        """A writer says in which epoch it was given the block."""
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
        """Whether what a server says of its group is to be heeded. One line a second says when somebody else does."""
        reporter = self._reporters.get(group)
        if reporter is None or peer not in reporter.servers:
            self._warn(peer, group)
            return False
        return reporter.on_epoch(peer, epoch)

    def command(self, peer: str, block: int, epoch: int) -> bool:
        """Whether a command about this block is to be obeyed."""
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
