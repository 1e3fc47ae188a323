"""Queries of active servers about checkpoints, over the control path, which faults do not affect."""

from __future__ import annotations

from typing import Any

from backend.checkpoints import story
from backend.checkpoints.models import NAME_CHARACTERS
from backend.checkpoints.operation_counts import Counting
from backend.errors import Impossible, NotThere, Unavailable
from backend.picture import PAUSED, ServerState
from backend.running_cluster import Running
from backend.store import queries
from nodes.families import FAMILIES, family_named
from nodes.roles import SERVING

MARK_S = 20.0
COUNT_S = 20.0
ANSWER_S = 10.0
RECOVER_S = 20.0
EVENTS_MOST = 5_000
"""Most events that the story of checkpoints is made from, the newest ones."""


def active_of(lab: Running, group: str = "") -> str:
    """The server of the newest epoch that serves as active, in `group` or in any group; of the members of a view, the first. Raises Unavailable."""
    servers = lab.fabric.picture.servers.values()
    serving = [each for each in servers if answers_as_active(each) and group in ("", each.group)]
    if not serving:
        raise Unavailable(f"{group or 'the cluster'} has no active now")
    return min(serving, key=lambda server: (-server.epoch, server.name)).name


def of_checkpoints(lab: Running, group: str = "") -> str:
    """The active that answers queries about checkpoints. Raises Impossible in families without checkpoints, Unavailable."""
    protocol = lab.home.file.cluster.protocol
    if not family_named(protocol).checkpoints:
        able = ", ".join(name for name, family in FAMILIES.items() if family.checkpoints)
        raise Impossible(f"{protocol} marks no checkpoints; {able} do")
    return active_of(lab, group)


def answers_as_active(server: ServerState) -> bool:
    """Whether the server believes that it serves and is not paused: a paused server keeps its last role in the picture."""
    return server.believes in SERVING and server.process != PAUSED


async def ask(lab: Running, server: str, question: dict[str, Any], timeout_s: float) -> dict[str, Any]:
    """Queries a server. Raises Impossible with its reason when it refuses, Unavailable."""
    answer = await lab.fabric.ask(server, question, timeout_s)
    if answer.get("refused"):
        raise Impossible(str(answer["refused"]))
    return answer


async def listed(lab: Running) -> dict[str, Any]:
    return await ask(lab, of_checkpoints(lab), {"do": "checkpoints"}, ANSWER_S)


async def reported(lab: Running) -> dict[str, Any]:
    """Reports of servers on markings and rollbacks, whatever their outcome."""
    await lab.store.flush()
    picture = lab.fabric.picture
    found = await queries.newest(lab.store.reader, story.KINDS, picture.seq, EVENTS_MOST)
    homes = {server.name: server.group for server in picture.servers.values()}
    return story.reported(homes, (stamped for _, stamped in found))


async def mark(lab: Running, name: str) -> dict[str, Any]:
    """Marks a complete checkpoint. Raises Impossible when it becomes void."""
    answer = await ask(lab, of_checkpoints(lab), {"do": "mark_checkpoint", "name": name}, MARK_S)
    checkpoint: dict[str, Any] = answer["checkpoint"]
    if checkpoint["state"] != "complete":
        raise Impossible(f"checkpoint {name} is void: some group did not write its barrier in time")
    return checkpoint


async def complete(lab: Running, name: str) -> dict[str, Any]:
    """The complete checkpoint of this name. Raises NotThere, Impossible."""
    known = {each["name"]: each for each in (await listed(lab))["checkpoints"]}
    if name not in known:
        raise NotThere(
            f"no checkpoint is called {name[:NAME_CHARACTERS]!r}; there are {', '.join(known) or 'none'}"
        )
    if known[name]["state"] != "complete":
        raise Impossible(f"checkpoint {name} is {known[name]['state']}; only a complete one holds a state")
    found: dict[str, Any] = known[name]
    return found


async def behind(lab: Running, name: str) -> dict[str, Any]:
    """Operations that a recovery would quarantine now. Raises NotThere, Impossible."""
    checkpoint = await complete(lab, name)
    groups = operations = 0
    for group, barrier in checkpoint["barriers"].items():
        more = await count_after(lab, group, barrier["sn"])
        groups, operations = groups + more[0], operations + more[1]
    return {"name": name, "groups": groups, "operations": operations}


async def count_after(lab: Running, group: str, sn: int) -> tuple[int, int]:
    """Numbers of groups and of operations in a journal after a sn. Raises Unavailable."""
    question = {"do": "count_after", "sn": sn}
    counted = await ask(lab, of_checkpoints(lab, group), question, COUNT_S)
    return counted["groups"], counted["operations"]


async def all_behind(lab: Running, counting: Counting) -> list[dict[str, Any]]:
    """Operations after every complete checkpoint, the newest first. Earlier counts are reused."""
    known = await listed(lab)
    reported = []
    async with counting.lock:
        for each in reversed(known["checkpoints"]):
            if each["state"] != "complete":
                continue
            barriers = {group: barrier["sn"] for group, barrier in each["barriers"].items()}
            groups, operations = await counting.behind(
                known["incarnation"], barriers, lambda group, sn: count_after(lab, group, sn)
            )
            reported.append({"name": each["name"], "groups": groups, "operations": operations})
    return reported


async def delete(lab: Running, name: str) -> dict[str, Any]:
    """Deletes a checkpoint. Raises Impossible with the reason for which it must stay."""
    answer = await ask(lab, of_checkpoints(lab), {"do": "delete_checkpoint", "name": name}, ANSWER_S)
    return {"deleted": answer["deleted"]}


async def recover(lab: Running, name: str, confirmed: bool) -> dict[str, Any]:
    """Rolls the cluster back, and returns when its groups serve again, or after a session. Servers that do not run follow when they return."""
    reported = await behind(lab, name)
    if not confirmed:
        raise Impossible(f"recovering to {name} sets {reported['operations']} operations aside: confirm it")
    question = {"do": "recover", "name": name, "waits": True}
    answer = await ask(lab, of_checkpoints(lab), question, RECOVER_S)
    return reported | {"incarnation": answer["incarnation"]}
