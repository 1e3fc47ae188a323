"""Calls as text: the parser accepts the calls of a drawn trial and refuses everything else in one line."""

from __future__ import annotations

import random

import pytest

from nodes.config import ClusterConfig, DataConfig, GroupConfig
from nodes.explore.calls import WithContent, parse
from nodes.explore.draw_load import draw_callers
from nodes.metadata.operations import Delete, Rename, SetPermission


def test_words_become_operations() -> None:
    assert parse("rename /a /b") == Rename("/a", "/b")
    assert parse("replace /a /b") == Rename("/a", "/b", overwrite=True)
    assert parse("delete-tree /a") == Delete("/a", recursive=True)
    assert parse("chmod /a 640") == SetPermission("/a", 0o640)
    assert parse("put /a 700") == WithContent("put", "/a", 700)


@pytest.mark.parametrize(
    "line", ["", "create", "create a", "create /a /b", "rename /a", "put /a", "put /a -1", "put /a x", "chmod /a 9", "fly /a", "get /a 3"]
)  # fmt: skip
def test_anything_else_is_refused_in_one_line(line: str) -> None:
    with pytest.raises(ValueError, match="is no call; there are create") as refused:
        parse(line)
    assert "\n" not in str(refused.value)


def test_every_drawn_call_is_understood() -> None:
    cluster = ClusterConfig(groups=[GroupConfig("g1", 1, ["mds1"])], data=DataConfig(["dn1"]))
    verbs: set[str] = set()
    for seed in range(60):
        for caller in draw_callers(random.Random(seed), cluster, ["c1", "c2", "c3"], 5_000, [1_000]):
            for call in caller.calls:
                parse(call)
                verbs.add(call.split(" ")[0])
    assert {"put", "append", "get", "link", "replace", "delete-tree", "mkdirs", "summary", "utime"} <= verbs
