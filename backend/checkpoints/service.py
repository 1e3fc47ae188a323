"""Asks the active servers about checkpoints, over the way that no fault touches."""

from __future__ import annotations

from typing import Any

from backend.errors import Impossible, NotThere, Unavailable
from backend.lab import Lab

MARK_S = 20.0
COUNT_S = 20.0
ANSWER_S = 10.0


def active_of(lab: Lab, group: str = "") -> str:
    """A server that serves as active, of any group unless told. Raises Unavailable."""
    for server in lab.fabric.picture.servers.values():
        if server.believes == "active" and group in ("", server.group):
            return server.name
    raise Unavailable(f"{group or 'the cluster'} has no active now")


async def ask(lab: Lab, server: str, question: dict[str, Any], timeout_s: float) -> dict[str, Any]:
    """Raises Impossible with the server's own line when it refuses, Unavailable."""
    answer = await lab.fabric.ask(server, question, timeout_s)
    if answer.get("refused"):
        raise Impossible(str(answer["refused"]))
    return answer


async def listed(lab: Lab) -> dict[str, Any]:
    return await ask(lab, active_of(lab), {"do": "checkpoints"}, ANSWER_S)


async def mark(lab: Lab, name: str) -> dict[str, Any]:
    """A complete checkpoint. Raises Impossible when it is void."""
    answer = await ask(lab, active_of(lab), {"do": "mark_checkpoint", "name": name}, MARK_S)
    checkpoint: dict[str, Any] = answer["checkpoint"]
    if checkpoint["state"] != "complete":
        raise Impossible(f"checkpoint {name} is void: some group did not write its barrier in time")
    return checkpoint


async def behind(lab: Lab, name: str) -> dict[str, Any]:
    """What a recovery would set aside now. Raises NotThere, Impossible."""
    known = {each["name"]: each for each in (await listed(lab))["checkpoints"]}
    if name not in known:
        raise NotThere(f"no checkpoint is called {name!r}; there are {', '.join(known) or 'none'}")
    if known[name]["state"] != "complete":
        raise Impossible(f"checkpoint {name} is {known[name]['state']} and cannot be recovered to")
    told = {"name": name, "groups": 0, "operations": 0}
    for group, barrier in known[name]["barriers"].items():
        question = {"do": "count_after", "sn": barrier["sn"]}
        counted = await ask(lab, active_of(lab, group), question, COUNT_S)
        told["groups"] += counted["groups"]
        told["operations"] += counted["operations"]
    return told


async def recover(lab: Lab, name: str, confirmed: bool) -> dict[str, Any]:
    """Begins to take the cluster back; whoever is there does so at once, others when they return."""
    told = await behind(lab, name)
    if not confirmed:
        raise Impossible(
            f"recovering to {name} sets {told['operations']} operations aside: say that it is confirmed"
        )
    answer = await ask(lab, active_of(lab), {"do": "recover", "name": name}, ANSWER_S)
    return told | {"incarnation": answer["incarnation"]}
