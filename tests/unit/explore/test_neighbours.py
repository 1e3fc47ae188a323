"""Neighbours of plans: each is valid, so that the file of a failing one can be read again."""

from __future__ import annotations

import random

import pytest

from nodes.config import one_group
from nodes.explore.check import check
from nodes.explore.draw import draw
from nodes.explore.plan import Plan
from nodes.explore.plan_mutations import neighbour
from nodes.families import FAMILIES


@pytest.mark.parametrize("protocol", FAMILIES)
def test_neighbours_of_neighbours_are_valid(protocol: str) -> None:
    corpus, rng = [draw(seed, protocol) for seed in range(20)], random.Random(protocol)
    for seed in range(100):
        corpus.append(neighbour(rng.choice(corpus), rng.choice(corpus), seed))
        check(corpus[-1])


@pytest.mark.parametrize("span_ms", [0, 1, 10_000])
def test_a_plan_that_was_shrunk_to_nothing_has_neighbours(span_ms: int) -> None:
    least = Plan(1, one_group(2), span_ms=span_ms)
    for seed in range(100):
        check(neighbour(least, least, seed))
