"""Random faults of a group, within what it recovers from.

Each of them can be undone and leaves every disk's data, and less than half of the servers have one at a time; of a group of one or two, one.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from nodes.faults.check import FaultUnsupported
from nodes.faults.model import Undo
from nodes.faults.table import BY_NAME, VERBS
from nodes.states import ProcessState

DRAWN = tuple(
    row.verb
    for row in VERBS
    if row.undo is not None and row.key and not row.damages and {"server", "link"} & {*row.targets}
)
"""The faults that are drawn, with the defaults of their options: those that every fabric has."""


class ChaosStep(NamedTuple):
    """What is done now: a verb at one server, with its options."""

    verb: str
    server: str
    options: dict[str, Any]


def drawn_step(
    servers: Mapping[str, ProcessState],
    standing: Iterable[tuple[str, list[str]]],
    rng: random.Random,
) -> ChaosStep:
    """A new fault, or the end of one that stands: always that when no other server may have one. A server that has ended by itself is restarted.

    `standing` are the faults in force: verb and targets. Raises FaultUnsupported when nothing can be done.
    """
    ends = [(BY_NAME[verb].undo, name) for verb, targets in standing for name in targets if name in servers]
    under_fault = {name for _, name in ends}
    ended = [name for name, state in servers.items() if state == "stopped" and name not in under_fault]
    ends += [(Undo("restart"), name) for name in ended]
    afflicted = under_fault.union(ended)
    undone = [(undo, name) for undo, name in ends if undo is not None]
    whole = [name for name in servers if name not in afflicted]
    room = len(afflicted) < max(1, (len(servers) - 1) // 2) and bool(whole)
    if undone and (not room or rng.random() < 0.5):
        undo, name = rng.choice(undone)
        return ChaosStep(undo.verb, name, undo.options)
    if not room:
        raise FaultUnsupported(
            "no server is left that may have a random fault, and none of the faults can be undone"
        )
    return ChaosStep(rng.choice(DRAWN), rng.choice(whole), {})
