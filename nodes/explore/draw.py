"""Draws a whole trial from a seed."""

from __future__ import annotations

import random

from msgspec.structs import replace

from nodes.config import ClusterConfig, Holes, Variant
from nodes.explore.atlas import within
from nodes.explore.bugs import detection_of
from nodes.explore.draw_cluster import NO_HOLES, draw_cluster
from nodes.explore.draw_company import Company
from nodes.explore.draw_conditions import draw_conditions
from nodes.explore.draw_early_start import started_early
from nodes.explore.draw_episodes import Episodes
from nodes.explore.draw_faults import FaultDrawer
from nodes.explore.draw_garnish import accompanied, further_faults, mixed, tied
from nodes.explore.draw_load import CALLERS, draw_callers
from nodes.explore.plan import Fault, Plan
from nodes.explore.stories import stories_of
from nodes.explore.stories.scene import GARNISHED, Scene
from nodes.families import FAMILIES, family_named, paper_holes
from nodes.mutations import NO_MUTATIONS, Mutations
from nodes.sim.conditions import CALM, Conditions

SESSIONS = (3, 5, 8, 12)
"""Lengths of a span in session time-outs."""
SPAN_MAX_MS = 15_000
STORIES = 0.9
"""Share of seeds that are stories."""
FAULTS = ("scattered", "scattered", "episodes", "episodes", "episodes", "both")
"""Ways in which a seed's faults are drawn."""
BEYOND = 0.05
"""Share of seeds that may cause more damage than the family survives; only safety is judged there."""
AS_PRINTED = 0.3
"""Share of the placement `ddg` as its figure prints it: it changes where files are, and loses nothing."""
GOLDEN_RATIO = (5**0.5 - 1) / 2
LATE_IN_A_SESSION = 10
"""A session is longer than so many of the slowest messages to coordination."""
SAFE = tuple(name for name, family in FAMILIES.items() if family.promises)
"""Families whose safe variant loses nothing."""


def draw(
    seed: int,
    protocol: str = "",
    holes: Holes = NO_HOLES,
    mutations: Mutations = NO_MUTATIONS,
    variant: Variant = "safe",
) -> Plan:
    """The plan of a seed, for this family or one that the seed chooses. The variant `paper` opens its family's holes beside `holes`. Raises
    ValueError for an unknown family."""
    rng = random.Random(f"{seed}/plan")
    drawn = rng.choice(SAFE)
    cluster = draw_cluster(rng, protocol or drawn, holes, mutations)
    cluster = detecting(seed, as_in_paper(cluster) if variant == "paper" else cluster)
    if rng.random() < STORIES:
        return started_early(reported(rng, seed, cluster))
    span_ms = min(SPAN_MAX_MS, rng.choice(SESSIONS) * cluster.timing.session_timeout_ms)
    clients = [f"c{number}" for number in range(1, rng.choice(CALLERS) + 1)]
    faults = draw_faults(rng, cluster, clients, span_ms)
    callers = draw_callers(rng, cluster, clients, span_ms, moments_of(faults))
    conditions = recording(seed, bearable(draw_conditions(rng), cluster))
    cluster = patient(placed(seed, cluster), conditions)
    return started_early(Plan(seed, cluster, conditions, callers, faults, span_ms))


def as_in_paper(cluster: ClusterConfig) -> ClusterConfig:
    opened = dict.fromkeys(paper_holes(cluster.protocol), True)
    return replace(cluster, variant="paper", holes=replace(cluster.holes, **opened))


def detecting(seed: int, cluster: ClusterConfig) -> ClusterConfig:
    """The cluster with the leases of its members in every other seed, where its family has them; with the kind of detection that its bugs need."""
    rng = random.Random(f"{seed}/detection")
    kind = detection_of(cluster.holes, cluster.mutations) or ("session", "members")[seed % 2]
    if family_named(cluster.protocol).cannot_grant or kind == "session":
        return cluster
    grant_ms = cluster.timing.session_timeout_ms // rng.choice((2, 4))
    return replace(cluster, detection="members", timing=replace(cluster.timing, grant_ms=grant_ms))


def placed(seed: int, cluster: ClusterConfig) -> ClusterConfig:
    """The cluster with `ddg` as printed in some seeds."""
    printed = cluster.placement == "ddg" and random.Random(f"{seed}/printed").random() < AS_PRINTED
    return replace(cluster, ddg_as_printed=printed)


def recording(seed: int, conditions: Conditions) -> Conditions:
    """In half of the seeds the owner of the processes records their ends."""
    return replace(conditions, ends_recorded=random.Random(f"{seed}/ends").random() < 0.5)


def reported(rng: random.Random, seed: int, cluster: ClusterConfig) -> Plan:
    """A trial by a story, on a cluster of this family."""
    scene = Scene(rng, cluster)
    stories = stories_of(scene.family, scene.lonely, cluster.detection)
    stories[int(turn(seed) * len(stories))](scene)
    conditions = CALM if rng.random() < 1 - scene.disturbed else bearable(draw_conditions(rng), scene.cluster)
    conditions = replace(recording(seed, conditions), **scene.weather)
    beyond = scene.beyond or rng.random() < BEYOND
    span_ms = min(SPAN_MAX_MS, scene.span_ms)
    callers, faults = accompanied(rng, scene.cluster, scene.callers), scene.faults
    if rng.random() < scene.garnished:
        callers = mixed(rng, scene.cluster, callers)
        faults = tied(rng, scene.cluster, faults, scene.appends)
        faults = [*faults, *further_faults(rng, scene.cluster, [caller.name for caller in callers], span_ms)]
    company = Company(rng, scene.cluster, callers, faults, span_ms, scene.garnished / GARNISHED)
    company.draw()
    faults = company.faults if beyond else within(scene.cluster, company.faults)
    return Plan(
        seed, patient(placed(seed, scene.cluster), conditions), conditions, company.callers, faults, span_ms
    )


def turn(seed: int) -> float:
    """The place of a seed in a sequence of low discrepancy from 0 to 1: consecutive seeds play every story about equally often, where independent
    draws would leave some out for long."""
    return seed * GOLDEN_RATIO % 1


def bearable(conditions: Conditions, cluster: ClusterConfig) -> Conditions:
    """The conditions with faster coordination, if it is so slow that a few late messages exceed a session: no group could serve."""
    latency = conditions.coordination
    late_us = latency.base_us + latency.spread_us + latency.tail_us
    if LATE_IN_A_SESSION * late_us > cluster.timing.session_timeout_ms * 1_000:
        return replace(conditions, coordination=CALM.coordination)
    return conditions


def patient(cluster: ClusterConfig, conditions: Conditions) -> ClusterConfig:
    """The cluster with longer patience, if ordinary delays of messages or syncs exceed it: a group that keeps leaving members out never comes to
    rest."""
    network, sync = conditions.network, conditions.sync
    late_us = 2 * (network.base_us + network.spread_us + network.tail_us)
    late_us += sync.base_us + sync.spread_us + sync.tail_us
    least_ms = min(cluster.timing.session_timeout_ms, 2 * late_us // 1_000)
    timing = replace(
        cluster.timing,
        ack_timeout_ms=max(cluster.timing.ack_timeout_ms, least_ms),
        grant_ms=max(cluster.timing.grant_ms, 2 * least_ms),
    )
    return replace(cluster, timing=timing)


def draw_faults(rng: random.Random, cluster: ClusterConfig, clients: list[str], span_ms: int) -> list[Fault]:
    how, faults = rng.choice(FAULTS), list[Fault]()
    if how in ("scattered", "both"):
        faults += FaultDrawer(rng, cluster, clients, span_ms).draw()
    if how in ("episodes", "both"):
        faults += Episodes(rng, cluster, clients, span_ms).draw()
    return faults if rng.random() < BEYOND else within(cluster, faults)


def moments_of(faults: list[Fault]) -> list[int]:
    """Times at which faults begin, ascending, without duplicates."""
    return sorted({fault.at_ms for fault in faults})
