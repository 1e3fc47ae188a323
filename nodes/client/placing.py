"""Where blocks lie and where they may be written: asked of any metadata server of the group, for all of them hear the data nodes."""

from __future__ import annotations

import asyncio
from typing import Any

from nodes.config import MILLISECOND, GroupConfig
from nodes.units import home_group
from nodes.wire.data_messages import (
    AskReplica,
    BlockRead,
    Choose,
    Chosen,
    Locate,
    Located,
    Location,
    ReadBlock,
    ReplicaIs,
)
from nodes.world import World

ANSWER_NS = 500 * MILLISECOND
PAUSE_NS = 200 * MILLISECOND

Question = Locate | Choose | AskReplica | ReadBlock
Reply = Located | Chosen | ReplicaIs | BlockRead


class Questions:
    """Questions whose answers are numbered; late and unknown answers are dropped."""

    def __init__(self, world: World):
        self._world = world
        self._open: dict[int, tuple[str, asyncio.Future[Any]]] = {}
        self._next = 0

    async def ask(self, peer: str, question: Question, timeout_ns: int = ANSWER_NS) -> Any:
        """Numbers the question and sends it; None when no answer came in time."""
        self._next += 1
        call = question.call = self._next
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._open[call] = (peer, reply)
        timer = self._world.clock.call_later(timeout_ns, self._answer, call, None)
        self._world.network.send(peer, question)
        try:
            return await reply
        finally:
            timer.cancel()
            self._open.pop(call, None)

    def on_reply(self, peer: str, message: Reply) -> None:
        asked, _ = self._open.get(message.call, ("", None))
        if asked == peer:
            self._answer(message.call, message)

    def _answer(self, call: int, message: Reply | None) -> None:
        _, reply = self._open.pop(call, ("", None))
        if reply is not None and not reply.done():
            reply.set_result(message)


class Placing:
    """The questions about places. The servers of a group are asked in order, the last one that answered first."""

    def __init__(self, world: World, questions: Questions, groups: list[GroupConfig]):
        self._world = world
        self._questions = questions
        self._servers = {group.number: list(group.members) for group in groups}

    async def locate(self, blocks: list[int]) -> list[list[Location]]:
        """The replicas of some blocks of one group, by whoever knows most of them; none of a block that nobody knows."""
        found: list[list[Location]] = [[] for _ in blocks]
        group = home_group(blocks[0]) if blocks else 0
        for server in list(self._servers.get(group, ())):
            told = await self._questions.ask(server, Locate(0, blocks))
            if not isinstance(told, Located) or len(told.places) != len(blocks):
                continue
            self._know(told.addresses)
            found = [old or new for old, new in zip(found, told.places, strict=True)]
            if all(found):
                self._prefer(group, server)
                break
        return found

    async def choose(
        self, group: int, count: int, exclude: list[str], octets: int
    ) -> tuple[list[str], dict[str, str]]:
        """Data nodes that have room for a block, and their addresses; none when nobody knows any."""
        best: tuple[list[str], dict[str, str]] = ([], {})
        for server in list(self._servers.get(group, ())):
            told = await self._questions.ask(server, Choose(0, count, exclude, octets))
            if not isinstance(told, Chosen) or len(told.nodes) <= len(best[0]):
                continue
            self._know(told.addresses)
            best = (told.nodes, told.addresses)
            if len(told.nodes) == count:
                self._prefer(group, server)
                break
        return best

    def _prefer(self, group: int, server: str) -> None:
        servers = self._servers[group]
        servers.remove(server)
        servers.insert(0, server)

    def _know(self, addresses: dict[str, str]) -> None:
        for name, address in addresses.items():
            self._world.network.know(name, address)
