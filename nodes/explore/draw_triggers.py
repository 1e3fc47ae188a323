"""Triggers: places in the progress of servers, at which faults are injected."""

from __future__ import annotations

import random

from nodes.config import ClusterConfig
from nodes.explore.progress import (
    CLIENT_MESSAGES,
    CROSSING,
    STEPS,
    TAKEOVER,
    WRITES,
    every_message,
    messages_of,
)
from nodes.families import family_named
from nodes.sim.triggers import Trigger

COUNTED = (1, 1, 2, 3, 5, 30, 200)
"""Upper bounds for a place's ordinal, counted from the beginning of the load."""
SOON = (1, 1, 1, 2, 3, 5, 10)
"""Upper bounds for a place's ordinal, counted from shortly before a fault."""


COMMON = 0.6
"""Share of messages of the family's own protocol; the others are any that can travel in the cluster."""


def draw_kind(rng: random.Random, cluster: ClusterConfig, common: float = COMMON) -> str:
    """A kind of message. `common`: share of the family's own."""
    own = messages_of(family_named(cluster.protocol).replication)
    return rng.choice(own if rng.random() < common else every_message(cluster))


def draw_trigger(rng: random.Random, cluster: ClusterConfig, server: str, bounds: tuple[int, ...]) -> Trigger:
    kind = rng.choice(("sync", "write", "sent", "delivered", "step", "step"))
    name = ""
    if kind == "step":
        steps = STEPS[family_named(cluster.protocol).replication]
        taking = [step for step in steps if step.partition("/")[0] in TAKEOVER]
        name = rng.choice(taking if rng.random() < 0.6 else steps)
    elif kind == "write":
        name = rng.choice(("", *WRITES))
    elif kind in ("sent", "delivered"):
        name = draw_kind(rng, cluster) if rng.random() < 0.85 else rng.choice(("", *CLIENT_MESSAGES))
        if len(cluster.groups) > 1 and rng.random() < 0.3:
            name = rng.choice(CROSSING)
    bound = rng.choice(bounds)
    ordinal = rng.randint(1, bound) if bound > 5 else bound
    when = "after" if kind == "step" else rng.choice(("before", "after"))
    return Trigger(kind, server, ordinal, when, name)


def draw_frequent(
    rng: random.Random, cluster: ClusterConfig, server: str, appends: tuple[str, ...]
) -> Trigger:
    """A place that a server under load mostly comes to soon. `appends`: messages that append to its log."""
    kind = rng.choice(("sync", "sync", "sent", "delivered"))
    frequent = ("", "", *appends, *CLIENT_MESSAGES[:2])
    name = rng.choice(frequent if rng.random() < 0.8 else every_message(cluster)) if kind != "sync" else ""
    return Trigger(kind, server, rng.choice(SOON), rng.choice(("before", "after")), name)
