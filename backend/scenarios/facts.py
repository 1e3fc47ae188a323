"""Facts that events do not show and that servers are queried for: the states of checkpoints, and whether the namespaces agree."""

from __future__ import annotations

from typing import Any

import msgspec

from backend.errors import LabError, Unavailable
from backend.scenarios.conditions import Situation
from backend.scenarios.fabric import Fabric
from backend.scenarios.model import ExpectPart
from nodes.metadata import fsck
from nodes.metadata.pages import TreePage

ANSWER_S = 10.0
UNASKED = "the namespaces have not been looked at"


def asks(expect: ExpectPart) -> bool:
    """Whether an expectation needs a query to servers."""
    return bool(expect.checkpoints) or expect.fsck is not None


class Facts:
    """The facts as of the last query."""

    def __init__(self) -> None:
        self.checkpoints: dict[str, str] = {}
        """State of each checkpoint by name, without pending ones."""
        self.faults: list[str] = [UNASKED]
        """Faults that the comparison of the namespaces found."""

    async def ask(self, fabric: Fabric, situation: Situation, expect: ExpectPart) -> None:
        """Queries the servers. A fact without an answer keeps its old value, but the namespaces are known all or not at all. Checkpoints are
        queried only when expected, since some families have none."""
        try:
            if expect.checkpoints:
                answer = await fabric.ask(anybody(situation), {"do": "checkpoints"}, ANSWER_S)
                if not answer.get("refused"):
                    self.checkpoints = {each["name"]: each["state"] for each in answer["checkpoints"]}
            self.faults = fsck.faults(await pages(fabric, situation))
        except LabError as error:
            self.faults = [error.message]


def anybody(situation: Situation) -> str:
    """An active, or else any running server. Raises Unavailable."""
    servers = [each for each in situation.picture.servers.values() if each.process == "running"]
    for server in sorted(servers, key=lambda each: each.role != "active"):
        return server.name
    raise Unavailable("no server runs")


async def pages(fabric: Fabric, situation: Situation) -> list[TreePage]:
    """The namespaces of all groups. Raises Unavailable."""
    found: list[TreePage] = []
    for group in situation.picture.groups:
        if not situation.serves(group):
            raise Unavailable(f"{group} has no active now")
        after = -1
        while after:
            question: dict[str, Any] = {"do": "tree", "after": max(0, after)}
            answer = await fabric.ask(situation.serving[group], question, ANSWER_S)
            answer.pop("ok", None)
            page = msgspec.convert(answer, TreePage, strict=False)
            found.append(page)
            after = page.after
    return found
