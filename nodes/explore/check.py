"""Validation of a plan: its cluster, names, and faults. One line gives the error, its place and what would be right."""

from __future__ import annotations

import re

from nodes.config import ClusterConfig
from nodes.explore.audit import OWN_CLIENTS
from nodes.explore.calls import parse
from nodes.explore.plan import FIRST, WHOEVER, Fault, Plan
from nodes.families import Family, family_named
from nodes.faults.check import FaultUnsupported, UnknownFault, WrongFault, check_count, resolved, verb_named
from nodes.faults.model import Verb
from nodes.kinds import nodes_of
from nodes.sim.conditions import BadConditions
from nodes.sim.conditions import check as check_conditions
from nodes.sim.ensemble import COORDINATION, MEMBERS
from nodes.sim.faults import ALIASES
from nodes.sim.triggers import KINDS, WHEN, Trigger

OF_COORDINATION = (COORDINATION, *MEMBERS, *ALIASES)
QUESTIONS = {"mark": (1, 1), "recover": (1, 1), "hand_over": (1, 2)}
"""Orders of a plan beside the table of faults, with their fewest and most targets."""
ROLE = re.compile(rf"(?:{FIRST})?(?:active|standby(?: [1-9]\d?)?) of (.+)|{WHOEVER}(.+)")


class WrongPlan(ValueError):
    """An invalid part of a plan. The place is written as msgspec writes it."""

    def __init__(self, line: str, place: str):
        super().__init__(f"{line} - at `$.{place}`")


def check(plan: Plan) -> None:
    """Raises ValueError with one line."""
    try:
        check_conditions(plan.conditions)
    except BadConditions as error:
        raise ValueError(str(error)) from None
    for place, caller in enumerate(plan.callers):
        for number, call in enumerate(caller.calls):
            try:
                parse(call)
            except ValueError as error:
                raise WrongPlan(str(error), f"callers[{place}].calls[{number}]") from None
    check_parts(plan)


def check_parts(plan: Plan) -> None:
    """Checks all but conditions and calls, which are valid by themselves. Raises ValueError."""
    check_cluster(plan.cluster)
    check_names(plan)
    words = Words(plan)
    for place, fault in enumerate(plan.faults):
        check_fault(fault, f"faults[{place}]", words)


# --- clusters ----------------------------------------------------------------------------------------------------------


def check_cluster(cluster: ClusterConfig) -> None:
    """Raises ValueError for a cluster that its family does not allow, or that cannot serve."""
    family, groups, timing = family_named(cluster.protocol), cluster.groups, cluster.timing
    if not 1 <= len(groups) <= family.groups_max:
        line = f"{cluster.protocol} runs 1 to {family.groups_max} groups, not {len(groups)}"
        raise WrongPlan(line, "cluster.groups")
    for place, group in enumerate(groups):
        if not 1 <= len(group.members) <= family.standbys_max + 1:
            most = family.standbys_max + 1
            line = f"{group.name}: {cluster.protocol} runs 1 to {most} servers in a group, not {len(group.members)}"
            raise WrongPlan(line, f"cluster.groups[{place}].members")
    smallest = min(len(group.members) for group in groups)
    if cluster.min_in_step > smallest:
        line = f"a group of {smallest} servers never has {cluster.min_in_step} in step: it could not serve"
        raise WrongPlan(line, "cluster.min_in_step")
    if timing.heartbeat_ms > timing.session_timeout_ms:
        line = f"a heartbeat each {timing.heartbeat_ms} ms keeps no session of {timing.session_timeout_ms} ms: it must be shorter"
        raise WrongPlan(line, "cluster.timing")
    nodes, needed = len(cluster.journal.nodes), journal_nodes_needed(cluster, family)
    if nodes < needed:
        line = f"{cluster.protocol} needs at least {needed} {family.journal_role}s here, not {nodes}"
        raise WrongPlan(line, "cluster.journal")


def journal_nodes_needed(cluster: ClusterConfig, family: Family) -> int:
    """A ledger needs a whole ensemble; other journals have at least the nodes that the family has by itself."""
    return cluster.journal.ensemble if family.journal_role == "bookie" else family.journal_nodes


def check_names(plan: Plan) -> None:
    """Each name is given once: faults and events name processes and groups by it. Raises ValueError."""
    cluster, known = plan.cluster, set(OF_COORDINATION)

    def once(name: str, place: str) -> None:
        if name.startswith(OWN_CLIENTS):
            raise WrongPlan(f"the name {name[:40]!r} begins like those of the audit's own clients", place)
        if name in known:
            raise WrongPlan(f"the name {name[:40]!r} is taken: every process and group has its own", place)
        known.add(name)

    for place, group in enumerate(cluster.groups):
        once(group.name, f"cluster.groups[{place}].name")
        for name in group.members:
            once(name, f"cluster.groups[{place}].members")
    nodes = [
        *cluster.journal.nodes,
        *cluster.data.nodes,
        *(name for each in cluster.nodes.values() for name in each),
    ]
    for name in nodes:
        once(name, "cluster")
    for place, caller in enumerate(plan.callers):
        once(caller.name, f"callers[{place}].name")
    numbers = [group.number for group in cluster.groups]
    if len(set(numbers)) < len(numbers):
        raise WrongPlan(f"the numbers of groups {numbers} are not all different", "cluster.groups")


# --- faults ------------------------------------------------------------------------------------------------------------


class Words:
    """The words that name something in a plan: names and roles."""

    def __init__(self, plan: Plan):
        cluster = plan.cluster
        self._groups = [group.name for group in cluster.groups]
        servers = [name for group in cluster.groups for name in group.members]
        clients = [caller.name for caller in plan.callers]
        self._names = [*self._groups, *servers, *added(servers, plan.faults), *nodes_of(cluster), *clients]

    def check(self, word: str, place: str) -> None:
        """Raises ValueError for a word that names nothing."""
        role = ROLE.fullmatch(word)
        if (role[1] or role[2]) in self._groups if role else word in (*self._names, *OF_COORDINATION):
            return
        there = ", ".join((*self._names, COORDINATION))
        line = f"nothing is called {word[:40]!r}; there are {there}, and roles such as `active of {self._groups[0]}`"
        raise WrongPlan(line, place)


def added(servers: list[str], faults: list[Fault]) -> list[str]:
    """The servers that faults of the plan add: each has the number after the largest one."""
    last = max(int("".join(filter(str.isdigit, name)) or 0) for name in servers)
    count = sum(fault.verb == "add_server" for fault in faults)
    return [f"mds{number}" for number in range(last + 1, last + count + 1)]


def names_what_is_there(fault: Fault, words: Words) -> bool:
    """Whether a fault names nothing that its plan lacks."""
    try:
        check_fault(fault, "", words)
    except ValueError:
        return False
    return True


def check_fault(fault: Fault, place: str, words: Words) -> None:
    """Raises ValueError."""
    targets = list(dict.fromkeys(fault.targets))
    if fault.verb in QUESTIONS:
        check_question(fault, targets, place)
    else:
        check_row(fault, targets, place)
    if fault.verb not in ("mark", "recover"):  # These name a checkpoint.
        for word in targets:
            words.check(word, f"{place}.targets")
            if word.startswith(WHOEVER) and fault.on is None:
                raise WrongPlan(
                    f"{word!r} is the server that comes to a place: the fault needs `on`", f"{place}.targets"
                )
    others = fault.options.get("others") or []
    for word in [others] if isinstance(others, str) else others:
        words.check(word, f"{place}.options.others")
    if fault.on is not None:
        check_trigger(fault.on, f"{place}.on", words)


def check_question(fault: Fault, targets: list[str], place: str) -> None:
    fewest, most = QUESTIONS[fault.verb]
    if not fewest <= len(targets) <= most:
        wanted = "1 target" if most == 1 else f"{fewest} to {most} targets"
        raise WrongPlan(f"{fault.verb} takes {wanted}, was given {len(targets)}", f"{place}.targets")
    for name in fault.options:
        raise WrongPlan(f"{fault.verb} has no option {name[:40]!r}; it has none", f"{place}.options.{name}")


def check_row(fault: Fault, targets: list[str], place: str) -> None:
    """Checks a fault of the table. The kinds of its targets are left to the run, which skips what is impossible: the explorer also draws that."""
    try:
        verb: Verb = verb_named(fault.verb, "simulated")
        check_count(verb, targets, resolved(verb, fault.options, "simulated"))
    except UnknownFault as error:
        raise WrongPlan(f"{error}; a trial also has {', '.join(QUESTIONS)}", f"{place}.verb") from None
    except WrongFault as error:
        part = f"options.{error.option}" if error.option else "targets"
        raise WrongPlan(str(error), f"{place}.{part}") from None
    except FaultUnsupported as error:
        raise WrongPlan(str(error), f"{place}.verb") from None


def check_trigger(on: Trigger, place: str, words: Words) -> None:
    for name, word, known in (("kind", on.kind, KINDS), ("when", on.when, WHEN)):
        if word not in known:
            raise WrongPlan(f"{name} {word[:40]!r}: use one of {', '.join(known)}", f"{place}.{name}")
    if on.kind == "step" and on.when == "before":
        raise WrongPlan("a step is known when it is taken: use `when: after`", f"{place}.when")
    if on.ordinal < 1:
        raise WrongPlan(f"ordinal {on.ordinal}: they are counted from 1", f"{place}.ordinal")
    words.check(on.server, f"{place}.server")
    if on.peer:
        words.check(on.peer, f"{place}.peer")
