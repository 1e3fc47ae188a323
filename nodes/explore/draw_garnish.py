"""The garnish of a story: what else happens and is called meanwhile, and places of progress instead of times.

A story draws the faults and calls of one pattern. Garnished stories together draw every fault and every call there is beside each pattern, for no
pattern knows which of its neighbours matter. The other stories are run as precisely as they were written, for many patterns need exact times.
"""

from __future__ import annotations

import random

from msgspec.structs import replace

from nodes.config import ClusterConfig
from nodes.explore.draw_faults import FaultDrawer, ways_of
from nodes.explore.draw_load import MAKE, Names, draw_calls
from nodes.explore.draw_triggers import draw_frequent
from nodes.explore.plan import FIRST, WHOEVER, Caller, Fault
from nodes.families import family_named
from nodes.sim.triggers import Trigger

EXTRA = 0.9
"""Share of those with further faults."""
EXTRA_FAULTS = (2, 3, 3, 4, 5)
TIED = 0.95
"""Share of those of which most moments are places in the progress of a server."""
MOMENTS = 0.95
"""Share of such a story's moments."""
EVER = ("drift_clock", "restart", "heal", "mark", "recover", "force", "add_server", "remove_server")
"""Verbs that stay at their times: conditions of the whole story, and what belongs behind another fault."""
REPLACED = 0.5
"""Share of those stories' creations in whose place other calls take."""
CONTENT = ("put", "append", "get")
CALLS = (*(name for name in MAKE if name not in CONTENT), "create", "stat", "open", "delete")
COMPANY = 20
"""Calls of a client that joins a lonely one."""


def further_faults(
    rng: random.Random, cluster: ClusterConfig, clients: list[str], span_ms: int
) -> list[Fault]:
    """Faults of any verb, at any time; often none."""
    if rng.random() >= EXTRA:
        return []
    drawer, ways = FaultDrawer(rng, cluster, clients, span_ms), ways_of(family_named(cluster.protocol))
    drawn = [rng.choice(ways) for _ in range(rng.choice(EXTRA_FAULTS))]
    return [fault for way in drawn for fault in (drawer.clog() if way == "clog" else drawer.one(way))]


def tied(
    rng: random.Random, cluster: ClusterConfig, faults: list[Fault], appends: tuple[str, ...]
) -> list[Fault]:
    """The faults, those of one moment tied to one place that is reached soon after it. `appends`: messages that append to the log."""
    if rng.random() >= TIED:
        return faults
    moments: dict[int, Trigger | None] = {}
    found = []
    for fault in faults:
        if fault.at_ms and fault.on is None and fault.verb not in EVER:
            if fault.at_ms not in moments:
                place = draw_frequent(rng, cluster, rng.choice(_watched(fault)), appends)
                moments[fault.at_ms] = place if rng.random() < MOMENTS else None
            fault = replace(fault, on=moments[fault.at_ms])
        found.append(fault)
    return found


def _watched(fault: Fault) -> list[str]:
    """The servers whose progress may decide: a group's leader, the first member of a group to come there, or the target of the fault."""
    group = fault.targets[0].rpartition(" of ")[2] if " of " in fault.targets[0] else "g1"
    role = [word for word in fault.targets if " of " in word]
    return [f"active of {group}", f"{FIRST}active of {group}", f"{WHOEVER}{group}", *role]


class Played(Names):
    """The names of a story: those that it has created so far, and a few directories."""

    def __init__(self, rng: random.Random):
        super().__init__(rng, hot=4, directories=3)

    def created(self, path: str) -> None:
        self._cold.append(path)


def mixed(rng: random.Random, cluster: ClusterConfig, callers: list[Caller]) -> list[Caller]:
    """The clients, with every operation there is."""
    names = Played(rng)
    return [replace(caller, calls=_mixed(rng, cluster, names, caller.calls)) for caller in callers]


def accompanied(rng: random.Random, cluster: ClusterConfig, callers: list[Caller]) -> list[Caller]:
    """The clients, at least two: what one alone sees agrees with itself too easily."""
    if len(callers) > 1:
        return callers
    weights = dict.fromkeys(_calls(cluster), 1)
    calls = draw_calls(rng, Played(rng), weights, COMPANY, first=True)
    return [*callers, Caller(f"c{len(callers) + 1}", calls, pause_us=rng.choice((0, 1_000, 50_000)))]


def _calls(cluster: ClusterConfig) -> tuple[str, ...]:
    return (*CALLS, *CONTENT) if cluster.data.nodes else CALLS


def _mixed(rng: random.Random, cluster: ClusterConfig, names: Played, calls: list[str]) -> list[str]:
    found = []
    for line in calls:
        if line.startswith("create "):
            if rng.random() < REPLACED:
                line = names.call(rng.choice(_calls(cluster)))
            else:
                names.created(line.partition(" ")[2])
        found.append(line)
    return found
