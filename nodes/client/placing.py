"""Where blocks lie and where they may be written: asked of any metadata server of the group, for all of them hear the data nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from nodes.config import MILLISECOND, SECOND, GroupConfig
from nodes.units import home_group
from nodes.wire.calls import Calls, Question, Reply
from nodes.wire.data_messages import (
    Choose,
    Chosen,
    Locate,
    Located,
    Location,
)
from nodes.world import World

ANSWER_NS = 500 * MILLISECOND
PAUSE_NS = 200 * MILLISECOND
SILENT_NS = 5 * SECOND
"""How long one that did not answer is thought to be silent."""
OPINIONS = 2


class Questions:
    """Questions with answers, and who left one unanswered not long ago."""

    def __init__(self, world: World):
        self._world = world
        self._calls = Calls(world)
        self._silent: dict[str, int] = {}
        self.on_reply: Callable[[str, Reply], None] = self._calls.on_reply

    def silent(self, peer: str) -> bool:
        """Whether it left a question unanswered not long ago."""
        return self._world.clock.monotonic_ns() < self._silent.get(peer, 0)

    async def ask(self, peer: str, question: Question) -> Reply | None:
        """None when no answer came in time."""
        reply = await self._calls.ask(peer, question, ANSWER_NS)
        if reply is None:
            self._silent[peer] = self._world.clock.monotonic_ns() + SILENT_NS
        else:
            self._silent.pop(peer, None)
        return reply


class Placing:
    """The questions about places. The servers of a group are asked in order, the last one that answered first."""

    def __init__(self, world: World, questions: Questions, groups: list[GroupConfig]):
        self._world = world
        self._questions = questions
        self._servers = {group.number: list(group.members) for group in groups}

    async def locate(self, blocks: list[int]) -> list[list[Location]]:
        """The replicas of some blocks of one group; none of a block that nobody knows who was asked."""
        found: list[list[Location]] = [[] for _ in blocks]
        async for told in self._answers(home_group(blocks[0]) if blocks else 0, Locate(0, blocks)):
            if isinstance(told, Located) and len(told.places) == len(blocks):
                self._know(told.addresses)
                found = [old or new for old, new in zip(found, told.places, strict=True)]
                if all(found):
                    break
        return found

    async def choose(
        self, group: int, count: int, exclude: list[str], octets: int
    ) -> tuple[list[str], dict[str, str]]:
        """Data nodes that have room for a block, and their addresses; none when nobody knows any who was asked."""
        best: tuple[list[str], dict[str, str]] = ([], {})
        async for told in self._answers(group, Choose(0, count, exclude, octets)):
            if isinstance(told, Chosen) and len(told.nodes) > len(best[0]):
                self._know(told.addresses)
                best = (told.nodes, told.addresses)
                if len(told.nodes) == count:
                    break
        return best

    async def _answers(self, group: int, question: Locate | Choose) -> AsyncIterator[Reply]:
        """Two opinions at most: whoever gives one that does not suffice, or none, is asked last the next time."""
        opinions = 0
        servers = self._servers.get(group, [])
        for server in sorted(servers, key=self._questions.silent):
            told = await self._questions.ask(server, question)
            if told is not None:
                opinions += 1
                yield told
            servers.remove(server)
            servers.append(server)
            if opinions == OPINIONS:
                return

    def _know(self, addresses: dict[str, str]) -> None:
        for name, address in addresses.items():
            self._world.network.know(name, address)
