"""The servers that an export reads from. All that have a checkpoint have the same state, so any of a group may answer any question."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

Answer = dict[str, Any]
AskServer = Callable[[str, Answer], Awaitable[Answer]]
"""Asks a server. The answer has `refused`, with the reason, when it cannot answer or does not exist any more."""


class NoSource(Exception):
    """No server of a group has the state; one line gives the reason of each."""


class Sources:
    """Asks the servers of a group in order, beginning with the last one that answered."""

    def __init__(self, servers: dict[int, list[str]], ask: AskServer):
        """`servers`: by the number of the group, those to be asked first in front."""
        self._servers = servers
        self._ask = ask

    async def ask(self, group: int, question: Answer) -> Answer:
        """Raises NoSource."""
        servers = self._servers[group]
        reasons: list[str] = []
        for server in list(servers):
            answer = await self._ask(server, question)
            if not answer.get("refused"):
                return answer
            reasons.append(f"{server}: {answer['refused']}")
            servers.remove(server)
            servers.append(server)
        raise NoSource(f"no server of group {group} has the state: {'; '.join(reasons)}")
