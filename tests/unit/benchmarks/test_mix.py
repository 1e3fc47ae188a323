"""Macrobenchmark2: the shares of its calls, and that a caller removes only its own files and directories."""

from __future__ import annotations

import random
from collections import Counter

from benchmarks._mix import SHARES, Item, Mix
from nodes.metadata.operations import Create, Delete, List, Mkdir, Stat

PART = [Item("/a", 1, False), Item("/a/b", 2, False), Item("/a/f", 1, True)]
CALLS = 20_000


def test_calls_come_in_the_papers_shares() -> None:
    mix = Mix(PART, "1-1", random.Random(1))
    kinds = Counter(type(mix.draw()) for _ in range(CALLS))
    total = sum(SHARES.values())
    for kind, share in ((Stat, 45.43), (List, 7.70), (Create, 5.55), (Mkdir, 1.71), (Delete, 1.11)):
        assert abs(kinds[kind] / CALLS - share / total) < 0.01


def test_what_is_deleted_was_made_and_is_deleted_once() -> None:
    mix, there = Mix(PART, "1-1", random.Random(2)), {"/a", "/a/b"}
    for _ in range(CALLS):
        call = mix.draw()
        if isinstance(call, Create | Mkdir):
            assert call.path not in there and call.path.rpartition("/")[0] in there
            there.add(call.path)
        elif isinstance(call, Delete):
            there.remove(call.path)


def test_a_part_without_directories_is_in_the_root() -> None:
    mix = Mix(PART[2:], "1-1", random.Random(3))
    calls = [mix.draw() for _ in range(200)]
    assert {call.path.count("/") for call in calls if isinstance(call, Create)} == {1}
