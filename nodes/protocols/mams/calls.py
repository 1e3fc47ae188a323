"""Questions to a peer that wait for their answer, for a bounded time."""

from __future__ import annotations

import asyncio

from nodes.protocols.mams.messages import FetchGroups, FetchImage, Groups, ImagePacket
from nodes.world import World

Reply = Groups | ImagePacket


class Calls:
    """Numbers questions and gives each answer to who waits for it; late and unknown answers are dropped."""

    def __init__(self, world: World):
        self._world = world
        self._open: dict[int, asyncio.Future[Reply | None]] = {}
        self._next = 0

    async def ask(self, peer: str, question: FetchGroups | FetchImage, timeout_ns: int) -> Reply | None:
        """Numbers the question and sends it; None when no answer came in time."""
        self._next += 1
        call = question.call = self._next
        reply: asyncio.Future[Reply | None] = asyncio.get_running_loop().create_future()
        self._open[call] = reply
        timer = self._world.clock.call_later(timeout_ns, self._give_up, call)
        self._world.network.send(peer, question)
        try:
            return await reply
        finally:
            timer.cancel()
            self._open.pop(call, None)

    def _give_up(self, call: int) -> None:
        reply = self._open.pop(call, None)
        if reply is not None and not reply.done():
            reply.set_result(None)

    def on_reply(self, message: Reply) -> None:
        reply = self._open.pop(message.call, None)
        if reply is not None and not reply.done():
            reply.set_result(message)
