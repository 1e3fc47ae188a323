"""What led to the failure of a test: the story of each simulated cluster that the failing code had at hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nodes.explore.trial import Trial
from nodes.invariants.registry import Lamps
from nodes.sim.cluster import SimCluster
from nodes.trace import story

DEEP = 2
"""A cluster is a variable of the test, or belongs to one: a lab, a trial."""


def sections(frames: Iterable[Any]) -> list[tuple[str, str]]:
    """(title, text) for each cluster in the local variables of these frames."""
    found = [value for frame in frames for value in within(dict(frame), DEEP)]
    clusters = {id(each): each for each in found if isinstance(each, SimCluster)}
    failed = [failure for lamps in found if isinstance(lamps, Lamps) for failure in lamps.failures]
    return [
        (
            f"what led to it (seed {cluster.seed})",
            "\n".join(story.failure(cluster.events, failed[0] if failed else None)),
        )
        for cluster in clusters.values()
        if cluster.events
    ]


def within(values: Mapping[str, Any], depth: int) -> Iterator[Any]:
    """These values, and those that they have as attributes."""
    for value in values.values():
        yield value
        if depth and type(value).__module__.startswith(("tests.", Trial.__module__)):
            yield from within(getattr(value, "__dict__", {}), depth - 1)
