"""Asks the active servers about checkpoints, over the way that no fault touches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.checkpoints import story
from backend.checkpoints.models import NAME_CHARACTERS
from backend.clusters.picture import PAUSED, ServerState
from backend.errors import Impossible, NotThere, Unavailable
from backend.lab import Lab
from backend.store import queries
from nodes.families import FAMILIES, Family, family_named

MARK_S = 20.0
COUNT_S = 20.0
ANSWER_S = 10.0
EVENTS_MOST = 5_000
"""The newest events that the story of checkpoints is made of."""


def active_of(lab: Lab, group: str = "") -> str:
    """The server of the newest epoch that serves as active, of any group unless told. Raises Unavailable."""
    servers = lab.fabric.picture.servers.values()
    serving = [each for each in servers if answers_as_active(each) and group in ("", each.group)]
    if not serving:
        raise Unavailable(f"{group or 'the cluster'} has no active now")
    return max(serving, key=lambda server: server.epoch).name


def of_checkpoints(lab: Lab, group: str = "") -> str:
    """The active to be asked about checkpoints. Raises Impossible in families that have none, Unavailable."""
    _require(lab, "marks no checkpoints", lambda family: family.checkpoints)
    return active_of(lab, group)


def of_images(lab: Lab, group: str) -> str:
    """The active that orders images. Raises Impossible in families that have none, Unavailable."""
    _require(lab, "writes no images", lambda family: family.images)
    return active_of(lab, group)


def _require(lab: Lab, lack: str, has: Callable[[Family], bool]) -> None:
    protocol = lab.home.file.cluster.protocol
    if not has(family_named(protocol)):
        able = ", ".join(name for name, family in FAMILIES.items() if has(family))
        raise Impossible(f"{protocol} {lack}; {able} do")


def answers_as_active(server: ServerState) -> bool:
    """One that was paused believes for ever what it believed."""
    return server.believes == "active" and server.process != PAUSED


async def ask(lab: Lab, server: str, question: dict[str, Any], timeout_s: float) -> dict[str, Any]:
    """Raises Impossible with the server's own line when it refuses, Unavailable."""
    answer = await lab.fabric.ask(server, question, timeout_s)
    if answer.get("refused"):
        raise Impossible(str(answer["refused"]))
    return answer


async def listed(lab: Lab) -> dict[str, Any]:
    return await ask(lab, of_checkpoints(lab), {"do": "checkpoints"}, ANSWER_S)


async def told(lab: Lab) -> dict[str, Any]:
    """What servers said while they marked and went back, whatever became of it."""
    await lab.store.flush()
    picture = lab.fabric.picture
    found = await queries.newest(lab.store.reader, story.KINDS, picture.seq, EVENTS_MOST)
    homes = {server.name: server.group for server in picture.servers.values()}
    return story.told(homes, (stamped for _, stamped in found))


async def mark(lab: Lab, name: str) -> dict[str, Any]:
    """A complete checkpoint. Raises Impossible when it is void."""
    answer = await ask(lab, of_checkpoints(lab), {"do": "mark_checkpoint", "name": name}, MARK_S)
    checkpoint: dict[str, Any] = answer["checkpoint"]
    if checkpoint["state"] != "complete":
        raise Impossible(f"checkpoint {name} is void: some group did not write its barrier in time")
    return checkpoint


async def behind(lab: Lab, name: str) -> dict[str, Any]:
    """What a recovery would set aside now. Raises NotThere, Impossible."""
    known = {each["name"]: each for each in (await listed(lab))["checkpoints"]}
    if name not in known:
        raise NotThere(
            f"no checkpoint is called {name[:NAME_CHARACTERS]!r}; there are {', '.join(known) or 'none'}"
        )
    if known[name]["state"] != "complete":
        raise Impossible(f"checkpoint {name} is {known[name]['state']} and cannot be recovered to")
    groups = operations = 0
    for group, barrier in known[name]["barriers"].items():
        more = await count_after(lab, group, barrier["sn"])
        groups, operations = groups + more[0], operations + more[1]
    return {"name": name, "groups": groups, "operations": operations}


async def count_after(lab: Lab, group: str, sn: int) -> tuple[int, int]:
    """Groups and operations in a journal behind a sn. Raises Unavailable."""
    question = {"do": "count_after", "sn": sn}
    counted = await ask(lab, of_checkpoints(lab, group), question, COUNT_S)
    return counted["groups"], counted["operations"]


async def all_behind(lab: Lab) -> list[dict[str, Any]]:
    """The same of every complete checkpoint, the newest first, as far as it has been counted before and since."""
    known = await listed(lab)
    told = []
    async with lab.counting_lock:
        for each in reversed(known["checkpoints"]):
            if each["state"] != "complete":
                continue
            barriers = {group: barrier["sn"] for group, barrier in each["barriers"].items()}
            groups, operations = await lab.counting.behind(
                known["incarnation"], barriers, lambda group, sn: count_after(lab, group, sn)
            )
            told.append({"name": each["name"], "groups": groups, "operations": operations})
    return told


async def delete(lab: Lab, name: str) -> dict[str, Any]:
    """Raises Impossible with the reason why it stays."""
    answer = await ask(lab, of_checkpoints(lab), {"do": "delete_checkpoint", "name": name}, ANSWER_S)
    return {"deleted": answer["deleted"]}


async def recover(lab: Lab, name: str, confirmed: bool) -> dict[str, Any]:
    """Begins to take the cluster back; whoever is there does so at once, others when they return."""
    told = await behind(lab, name)
    if not confirmed:
        raise Impossible(
            f"recovering to {name} sets {told['operations']} operations aside: say that it is confirmed"
        )
    answer = await ask(lab, of_checkpoints(lab), {"do": "recover", "name": name}, ANSWER_S)
    return told | {"incarnation": answer["incarnation"]}
