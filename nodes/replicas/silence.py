"""Detection by silence: members that receive no heartbeat remove the lock, without waiting for its session to end (safety rule 26).

The servers that grant the lease have to agree: the members, or the journal nodes where these keep the journal.
Safety does not depend on it. A lock may be removed at any time: epochs, grants and the read quorum decide who answers.
"""

from __future__ import annotations

import asyncio

from nodes.config import MILLISECOND
from nodes.replicas.grants import NEVER_NS, Granter
from nodes.replicas.messages import AskSilence, Silent
from nodes.replicas.view import Configuration
from nodes.replicas.view_watcher import ViewServer, ViewWatcher
from nodes.trace.lease_events import LockRemoved
from nodes.world import CoordinationError, wait_at_most

LOOK_NS = 10 * MILLISECOND
ANSWER_NS = 100 * MILLISECOND
"""Time for the others to agree."""


class SilenceWatch:
    """One member's watch over the holder of the lock."""

    def __init__(
        self,
        server: ViewServer,
        following: ViewWatcher,
        granter: Granter,
        journal_nodes: Configuration | None = None,
    ):
        """`journal_nodes`: those that grant the lease; None where the members do. `granter`: this member's own, which notes heartbeats in both."""
        self._server = server
        self._journal_nodes = journal_nodes
        self._following = following
        self._granter = granter
        self._pause_ns = server.config.cluster.timing.grant_ms * MILLISECOND // 4
        self._asked = -1
        """Generation of the lock about which the others were asked last."""
        self._agreed: dict[str, None] = {}
        self._received = asyncio.Event()

    def on_silent(self, peer: str, message: Silent) -> None:
        if message.generation == self._asked:
            self._agreed[peer] = None
            self._received.set()

    def _suspect_in_ns(self) -> int:
        """Time until the holder, which was heard from before, is suspected; NEVER_NS when it does not hold the lock as far as is known."""
        granter, name = self._granter, self._server.world.name
        if granter.holder in ("", name) or granter.holder != self._following.holder:
            return NEVER_NS
        return granter.silent_in_ns(granter.generation)

    async def run(self) -> None:
        """Watches without end."""
        clock = self._server.world.clock
        while True:
            left_ns = self._suspect_in_ns()
            if left_ns:
                await clock.sleep(max(LOOK_NS, min(left_ns, self._pause_ns)))
                continue
            try:
                await self._remove_lock()
            except CoordinationError:
                pass
            await clock.sleep(self._pause_ns)

    async def _remove_lock(self) -> None:
        """Removes the lock when a write quorum of those that grant agrees. Raises CoordinationError."""
        server, generation = self._server, self._granter.generation
        granting, name = self._journal_nodes, server.world.name
        if granting is None:
            granting, _ = await server.view.configuration()
            if name not in granting.members:
                return
        self._asked, self._agreed = generation, {name: None}
        for member in granting.members:
            if member != name:
                server.world.network.send(member, AskSilence(generation, server.group.number))
        end_ns = server.world.clock.monotonic_ns() + ANSWER_NS
        while not granting.has_write_quorum(list(self._agreed)):
            left_ns = end_ns - server.world.clock.monotonic_ns()
            if left_ns <= 0:
                return
            self._received.clear()
            await wait_at_most(server.world.clock, self._received, left_ns)
        holder, agreed = self._granter.holder, sorted(self._agreed)
        if generation != self._granter.generation or self._suspect_in_ns():
            return
        if await server.view.remove_lock(generation):
            server.world.trace.emit(LockRemoved(server.group.name, holder, "silence", agreed))
