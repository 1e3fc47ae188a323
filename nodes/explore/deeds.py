"""Faults of a plan carried out on a cluster, and taken back."""

from __future__ import annotations

from msgspec.structs import replace

from nodes.explore.plan import FIRST, Fault
from nodes.explore.stage import Stage
from nodes.faults.check import FaultUnsupported
from nodes.faults.table import BY_NAME, LINK_VERBS, STOPPING
from nodes.roles import FOLLOWING, LEADING

ROLES = {"active": LEADING, "standby": FOLLOWING}


def carry_out(cluster: Stage, fault: Fault) -> list[str]:
    """Returns the names that the target words stood for. Raises FaultUnsupported when there is nothing to be done."""
    names = [resolve(cluster, word) for word in fault.targets]
    if fault.verb in ("mark", "recover"):
        ask_checkpoint(cluster, fault.verb, names[0])
    else:
        cluster.faults.do(fault.verb, list(dict.fromkeys(names)), fault.options)
    return names


def as_of_now(cluster: Stage, fault: Fault) -> Fault:
    """The fault with the names of those who have the roles now that it speaks of as the first ones; who has none stays a word."""

    def name(word: str) -> str:
        try:
            return resolve(cluster, word.removeprefix(FIRST)) if word.startswith(FIRST) else word
        except FaultUnsupported:
            return word

    on = fault.on and replace(fault.on, server=name(fault.on.server), peer=name(fault.on.peer))
    return replace(fault, targets=[name(word) for word in fault.targets], on=on)


def take_back(cluster: Stage, fault: Fault, names: list[str]) -> None:
    """Ends what a fault began. Raises FaultUnsupported when something else did, or it cannot be ended."""
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
    """One link, or everything at each of the names; what was clogged is let go. One kind of message that was held goes on by itself."""
    if fault.options.get("kind"):
        direction = fault.options.get("direction", "both")
        cluster.faults.do("heal", names, {"direction": direction, "kind": fault.options["kind"]})
    elif len(names) == 2 and not fault.options.get("island"):
        cluster.faults.heal(*names)
    else:
        cluster.faults.heal(names)


def resolve(cluster: Stage, word: str) -> str:
    """A name, or who has the role of the group now: `standby 2 of g1` is the second of them. Where all are alike, the first one counts
    as the active. Raises FaultUnsupported when nobody has."""
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


def ask_checkpoint(cluster: Stage, verb: str, name: str) -> None:
    """Begins to mark a checkpoint, or to go back to one; asked of a server that leads. Raises FaultUnsupported."""
    question = {"do": "mark_checkpoint" if verb == "mark" else "recover", "name": name}
    leading = [server for server, place in cluster.places.items() if place in LEADING]
    # One that has just been started again has not told another role yet.
    able = [
        server
        for server in leading
        if cluster.servers[server].process == "running" and cluster.answers(server, question["do"])
    ]
    if not able:
        raise FaultUnsupported("no server leads now")
    cluster.begin_asking(able[0], question)
