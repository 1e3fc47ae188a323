"""Questions to a peer that wait for their reply for a bounded time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from nodes.ignored_messages import Ignoring
from nodes.wire.messages import Question, Reply
from nodes.world import World


class NumberedMessage(Protocol):
    call: int


class Calls:
    """Numbers questions and gives each reply to the waiting caller; late and unknown replies are ignored."""

    def __init__(self, world: World):
        self._world = world
        self._ignoring = Ignoring(world)
        self._open: dict[int, tuple[str, asyncio.Future[NumberedMessage | None]]] = {}
        self._next = world.rng.getrandbits(48)
        """The next number. It does not begin with 0, because replies to questions of an earlier leader or process may still arrive."""

    async def ask(self, peer: str, question: Question, timeout_ns: int) -> Reply | None:
        """Numbers the question and sends it; None when no answer came in time."""
        send = self._world.network.send
        return await self.ask_through(lambda: send(peer, question), question, timeout_ns, peer)  # type: ignore[return-value]

    async def ask_through(
        self, send: Callable[[], None], question: NumberedMessage, timeout_ns: int, peer: str = ""
    ) -> NumberedMessage | None:
        """Like `ask`, for a question that `send` sends. Any peer may reply unless `peer` is named."""
        self._next += 1
        call = question.call = self._next
        reply: asyncio.Future[NumberedMessage | None] = asyncio.get_running_loop().create_future()
        self._open[call] = (peer, reply)
        timer = self._world.clock.call_later(timeout_ns, self._give_up, call)
        send()
        try:
            return await reply
        finally:
            timer.cancel()
            self._open.pop(call, None)

    def _give_up(self, call: int) -> None:
        _, reply = self._open.pop(call, ("", None))
        if reply is not None and not reply.done():
            reply.set_result(None)

    def on_reply(self, peer: str, message: NumberedMessage) -> None:
        asked, reply = self._open.get(message.call, ("", None))
        if reply is not None and asked in ("", peer) and not reply.done():
            reply.set_result(message)
        else:
            self._ignoring.report(peer, message, "it answers nothing that is still asked")
