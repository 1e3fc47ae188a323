"""A seed draws everything."""

from __future__ import annotations

import random

from nodes.config import Holes
from nodes.explore.draw_cluster import NO_HOLES, draw_cluster
from nodes.explore.draw_conditions import draw_conditions
from nodes.explore.draw_faults import FaultDrawer
from nodes.explore.draw_load import draw_callers
from nodes.explore.plan import Plan
from nodes.families import FAMILIES
from nodes.mutations import NO_MUTATIONS, Mutations

SPANS_MS = (2_000, 5_000, 5_000, 10_000, 20_000)
SAFE = tuple(name for name, family in FAMILIES.items() if family.promises)
"""The families whose safe variant loses nothing."""


def draw(seed: int, protocol: str = "", holes: Holes = NO_HOLES, mutations: Mutations = NO_MUTATIONS) -> Plan:
    """The plan of a seed, for this family or one that the seed chooses. Raises ValueError for an unknown family."""
    rng = random.Random(f"{seed}/plan")
    drawn = rng.choice(SAFE)
    cluster = draw_cluster(rng, protocol or drawn, holes, mutations)
    span_ms = rng.choice(SPANS_MS)
    callers = draw_callers(rng, cluster, span_ms)
    faults = FaultDrawer(rng, cluster, callers, span_ms).draw()
    return Plan(seed, cluster, draw_conditions(rng), callers, faults, span_ms)
