"""Triggers: places in the progress of servers, at which faults are injected."""

from __future__ import annotations

import random

from nodes.explore.progress import CLIENT_MESSAGES, CROSSING, STEPS, TAKEOVER, WRITES, messages_of
from nodes.families import Family
from nodes.sim.triggers import Trigger

COUNTED = (1, 1, 2, 3, 5, 30, 200)
"""Upper bounds for a place's ordinal, counted from the beginning of the load."""
SOON = (1, 1, 1, 2, 3, 5, 10)
"""Upper bounds for a place's ordinal, counted from shortly before a fault."""


def draw_trigger(
    rng: random.Random, family: Family, groups: int, server: str, bounds: tuple[int, ...]
) -> Trigger:
    """Draws a trigger. `groups`: number of groups in the cluster."""
    kind = rng.choice(("sync", "write", "sent", "delivered", "step", "step"))
    name = ""
    if kind == "step":
        steps = STEPS[family.replication]
        taking = [step for step in steps if step.partition("/")[0] in TAKEOVER]
        name = rng.choice(taking if rng.random() < 0.6 else steps)
    elif kind == "write":
        name = rng.choice(("", *WRITES))
    elif kind in ("sent", "delivered"):
        kinds = ("", *CLIENT_MESSAGES, *messages_of(family.replication))
        name = rng.choice(CROSSING if groups > 1 and rng.random() < 0.3 else kinds)
    bound = rng.choice(bounds)
    ordinal = rng.randint(1, bound) if bound > 5 else bound
    when = "after" if kind == "step" else rng.choice(("before", "after"))
    return Trigger(kind, server, ordinal, when, name)
