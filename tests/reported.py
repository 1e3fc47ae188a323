"""The story of each simulated cluster in the local variables of a failed test, printed with the failure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nodes.explore.trial import Trial
from nodes.invariants.registry import InvariantChecks
from nodes.sim.cluster import SimCluster
from nodes.trace import story
from nodes.trace.present import Cause

DEEP = 2
"""Depth of the search: a cluster is a variable of the test, or an attribute of one, such as a lab or a trial."""


def sections(frames: Iterable[Any]) -> list[tuple[str, str]]:
    """(title, text) for each cluster in the local variables of these frames."""
    found = [value for frame in frames for value in within(dict(frame), DEEP)]
    clusters = {id(each): each for each in found if isinstance(each, SimCluster)}
    checks = {id(each): each for each in found if isinstance(each, InvariantChecks)}
    return [
        (
            f"what led to it (seed {cluster.seed})",
            "\n".join(story.failure(cluster.events, evidence(cluster, checks.values(), len(clusters) == 1))),
        )
        for cluster in clusters.values()
        if cluster.events
    ]


def evidence(cluster: SimCluster, checks: Iterable[InvariantChecks], alone: bool) -> list[Cause]:
    """What the first violated check of this cluster names. Checks that do not listen to any cluster belong to the one that is `alone`: servers of
    several clusters have the same names."""
    own = [each for each in checks if alone or each.on_event in cluster._listeners]
    return next((failure.evidence for each in own for failure in each.failures), [])


def within(values: Mapping[str, Any], depth: int) -> Iterator[Any]:
    """These values, and their attributes."""
    for value in values.values():
        yield value
        if depth and type(value).__module__.startswith(("tests.", Trial.__module__)):
            yield from within(getattr(value, "__dict__", {}), depth - 1)
