"""Locations of blocks, and choices of data nodes to write to. Any metadata server of the group can answer, because data nodes report to all of
them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

from nodes.calls import Calls
from nodes.config import MILLISECOND, SECOND
from nodes.units import home_group
from nodes.wire.data_messages import (
    Choose,
    Chosen,
    Locate,
    Located,
    Location,
)
from nodes.wire.messages import Question, Reply
from nodes.world import World

ANSWER_NS = 500 * MILLISECOND
PAUSE_NS = 200 * MILLISECOND
SILENT_NS = 5 * SECOND
"""Time for which a server that did not answer counts as silent."""
OPINIONS = 2


class Questions:
    """Questions with replies, and the peers that recently left one unanswered."""

    def __init__(self, world: World):
        self._world = world
        self._calls = Calls(world)
        self._silent: dict[str, int] = {}
        self.on_reply: Callable[[str, Reply], None] = self._calls.on_reply

    def silent(self, peer: str) -> bool:
        """Whether the peer recently left a question unanswered."""
        return self._world.clock.monotonic_ns() < self._silent.get(peer, 0)

    async def ask(self, peer: str, question: Question) -> Reply | None:
        """The reply of a peer; None when none came in time."""
        reply = await self._calls.ask(peer, question, ANSWER_NS)
        if reply is None:
            self._silent[peer] = self._world.clock.monotonic_ns() + SILENT_NS
        else:
            self._silent.pop(peer, None)
        return reply


class Placing:
    """Questions about locations. The servers of a group are asked in order, beginning with the last one that answered."""

    def __init__(self, world: World, questions: Questions, servers_of: Callable[[int], Sequence[str]]):
        """`servers_of`: the known servers of a group, which are more when some have been added."""
        self._world = world
        self._questions = questions
        self._servers_of = servers_of
        self._servers: dict[int, list[str]] = {}

    async def locate(self, blocks: list[int]) -> list[list[Location]]:
        """Replicas of some blocks of one group; none for a block that no asked server knows."""
        found: list[list[Location]] = [[] for _ in blocks]
        async for reported in self._answers(home_group(blocks[0]) if blocks else 0, Locate(0, blocks)):
            if isinstance(reported, Located) and len(reported.places) == len(blocks):
                self._know(reported.addresses)
                found = [old or new for old, new in zip(found, reported.places, strict=True)]
                if all(found):
                    break
        return found

    async def choose(
        self, group: int, count: int, exclude: list[str], size: int
    ) -> tuple[list[str], dict[str, str]]:
        """Data nodes with room for a block, and their addresses; none when no asked server knows any."""
        best: tuple[list[str], dict[str, str]] = ([], {})
        async for reported in self._answers(group, Choose(0, count, exclude, size)):
            if isinstance(reported, Chosen) and len(reported.nodes) > len(best[0]):
                self._know(reported.addresses)
                best = (reported.nodes, reported.addresses)
                if len(reported.nodes) == count:
                    break
        return best

    async def _answers(self, group: int, question: Locate | Choose) -> AsyncIterator[Reply]:
        """Replies of at most two servers. A server whose reply is missing or does not suffice is asked last the next time."""
        opinions = 0
        servers = self._servers.setdefault(group, [])
        servers[:0] = [server for server in self._servers_of(group) if server not in servers]
        for server in sorted(servers, key=self._questions.silent):
            reported = await self._questions.ask(server, question)
            if reported is not None:
                opinions += 1
                yield reported
            servers.remove(server)
            servers.append(server)
            if opinions == OPINIONS:
                return

    def _know(self, addresses: dict[str, str]) -> None:
        for name, address in addresses.items():
            self._world.network.know(name, address)
