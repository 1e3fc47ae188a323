"""Faults of a plan, carried out on a cluster and ended."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from nodes.explore.plan import FIRST, Fault
from nodes.explore.stage import Stage
from nodes.faults.check import FaultUnsupported
from nodes.faults.table import BY_NAME, LINK_VERBS, STOPPING
from nodes.roles import FOLLOWING, LEADING

ROLES = {"active": LEADING, "standby": FOLLOWING}


def carry_out(cluster: Stage, fault: Fault) -> list[str]:
    """Carries out a fault; returns the names of its targets. Raises FaultUnsupported when it is impossible."""
    names = [resolve(cluster, word) for word in fault.targets]
    if fault.verb == "hand_over":
        ask_to_hand_over(cluster, names[0], *names[1:])
    elif fault.verb in ("mark", "recover"):
        ask_checkpoint(cluster, fault.verb, names[0])
    else:
        cluster.faults.do(fault.verb, list(dict.fromkeys(names)), fault.options)
    return names


def as_of_now(cluster: Stage, fault: Fault) -> Fault:
    """The fault with its "first" roles replaced by the servers that have these roles now. A role without a server stays."""

    def name(word: str) -> str:
        try:
            return resolve(cluster, word.removeprefix(FIRST)) if word.startswith(FIRST) else word
        except FaultUnsupported:
            return word

    on = fault.on and replace(fault.on, server=name(fault.on.server), peer=name(fault.on.peer))
    return replace(fault, targets=[name(word) for word in fault.targets], on=on)


def take_back(cluster: Stage, fault: Fault, names: list[str]) -> None:
    """Ends a fault. Raises FaultUnsupported when it has already ended, or cannot be ended."""
    undo = BY_NAME[fault.verb].undo if fault.verb in BY_NAME else None
    if fault.verb in STOPPING:
        for name in names:
            if name not in cluster.servers or cluster.servers[name].process == "stopped":
                cluster.faults.restart(name)
    elif fault.verb == "pause":
        for name in names:
            cluster.faults.resume(name)
    elif fault.verb in LINK_VERBS:
        heal(cluster, fault, names)
    elif undo is not None:
        cluster.faults.do(undo.verb, names, undo.options)


def heal(cluster: Stage, fault: Fault, names: list[str]) -> None:
    """Heals one link, those to the `others`, or all links of each of the names, clogged ones included. A held kind of message is released
    separately."""
    if fault.options.get("kind"):
        direction = fault.options.get("direction", "both")
        cluster.faults.do("heal", names, {"direction": direction, "kind": fault.options["kind"]})
    elif fault.options.get("others"):
        cluster.faults.heal(names, others=fault.options["others"])
    elif len(names) == 2 and not fault.options.get("island"):
        cluster.faults.heal(*names)
    else:
        cluster.faults.heal(names)


def resolve(cluster: Stage, word: str) -> str:
    """A name, or the server with the role in the group now: `standby 2 of g1` is the second of them. In a family without roles, the first member
    counts as the active. Raises FaultUnsupported when there is none."""
    role, of, group = word.partition(" of ")
    if not of:
        return word
    role, _, number = role.partition(" ")
    members = [name for name, server in cluster.servers.items() if server.group == group]
    having = [name for name in members if cluster.places.get(name, "") in ROLES.get(role, ())]
    if not having and role in ROLES:
        alike = [name for name in members if cluster.places.get(name, "") == "member"]
        having = alike[:1] if role == "active" else alike[1:]
    place = int(number) - 1 if number.isdigit() else 0
    if place >= len(having):
        raise FaultUnsupported(f"there is no {word} now")
    return having[place]


def ask_checkpoint(cluster: Stage, verb: str, name: str) -> Any:
    """Asks a leading server to mark a checkpoint, or to roll back to one. Returns what `begin_asking` does. Raises FaultUnsupported."""
    question = {"do": "mark_checkpoint" if verb == "mark" else "recover", "name": name}
    leading = [server for server, place in cluster.places.items() if place in LEADING]
    # A server that has just been restarted has not reported its new role yet.
    able = [
        server
        for server in leading
        if cluster.servers[server].process == "running" and cluster.answers(server, question["do"])
    ]
    if not able:
        raise FaultUnsupported("no server leads now")
    return cluster.begin_asking(able[0], question)


def ask_to_hand_over(cluster: Stage, active: str, successor: str = "") -> None:
    """Asks a server to hand its active role over, to this successor or any standby in step. It may refuse. Raises FaultUnsupported."""
    question = {"do": "hand_over", "server": successor}
    server = cluster.servers.get(active)
    if server is None or server.process != "running" or not cluster.answers(active, question["do"]):
        raise FaultUnsupported(f"{active} hands nothing over now")
    cluster.begin_asking(active, question)
