"""What no event tells for sure and has to be asked: which checkpoints there are, and whether the namespaces fit together."""

from __future__ import annotations

from typing import Any

import msgspec

from backend.errors import LabError, Unavailable
from backend.scenarios.conditions import Situation
from backend.scenarios.fabric import Fabric
from backend.scenarios.model import ExpectPart
from nodes.metadata import fsck
from nodes.metadata.pages import Page

ANSWER_S = 10.0
UNASKED = "the namespaces have not been looked at"


def asks(expect: ExpectPart) -> bool:
    """Whether an expectation speaks of anything that has to be asked."""
    return bool(expect.checkpoints) or expect.fsck is not None


class Facts:
    """As they were when they were asked last."""

    def __init__(self) -> None:
        self.checkpoints: dict[str, str] = {}
        """Name to state; one that is pending is not among them."""
        self.faults: list[str] = [UNASKED]
        """What does not fit together."""

    async def ask(self, fabric: Fabric, situation: Situation, expect: ExpectPart) -> None:
        """What nobody answers stays as it was, but for the namespaces: they are known all or not at all. No family is asked for
        checkpoints that nothing is expected of: it may have none."""
        try:
            if expect.checkpoints:
                answer = await fabric.ask(anybody(situation), {"do": "checkpoints"}, ANSWER_S)
                if not answer.get("refused"):
                    self.checkpoints = {each["name"]: each["state"] for each in answer["checkpoints"]}
            self.faults = fsck.faults(await pages(fabric, situation))
        except LabError as error:
            self.faults = [error.message]


def anybody(situation: Situation) -> str:
    """An active, else any server that runs. Raises Unavailable."""
    servers = [each for each in situation.picture.servers.values() if each.process == "running"]
    for server in sorted(servers, key=lambda each: each.role != "active"):
        return server.name
    raise Unavailable("no server runs")


async def pages(fabric: Fabric, situation: Situation) -> list[Page]:
    """The namespaces of all groups. Raises Unavailable."""
    found: list[Page] = []
    for group in situation.picture.groups:
        if not situation.serves(group):
            raise Unavailable(f"{group} has no active now")
        after = -1
        while after:
            question: dict[str, Any] = {"do": "tree", "after": max(0, after)}
            answer = await fabric.ask(situation.serving[group], question, ANSWER_S)
            answer.pop("ok", None)
            page = msgspec.convert(answer, Page, strict=False)
            found.append(page)
            after = page.after
    return found
