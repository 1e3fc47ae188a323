"""The file system commands apart from the cluster: local files, names on a terminal, the comparison of moving namespaces."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backend.commands import names
from backend.commands.contents import replacing
from backend.errors import LabError
from backend.fs import fsck
from nodes.metadata.pages import TreePage
from nodes.units import GROUP_SHIFT, ROOT


def test_a_local_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    local = tmp_path / "mine"
    local.write_text("old")
    with pytest.raises(LabError), replacing(local) as file:
        file.write(b"half of the n")
        raise LabError("no data node gives the rest of it")
    assert local.read_text() == "old" and os.listdir(tmp_path) == ["mine"]
    with replacing(local) as file:
        file.write(b"new")
        assert local.read_text() == "old"
    assert local.read_text() == "new" and os.listdir(tmp_path) == ["mine"]


def test_what_is_no_ordinary_file_is_written_directly(tmp_path: Path) -> None:
    with replacing(Path(os.devnull)) as file:
        file.write(b"gone")
    with pytest.raises(IsADirectoryError), replacing(tmp_path):
        pass


@pytest.mark.parametrize(
    ("name", "quoted"),
    [("plain ü", "plain ü"), ("a\x1b[2J", r"'a\x1b[2J'"), ("it's\n", r"'it\'s\n'"), ("\u202e", r"'\u202e'")],
)
def test_a_name_is_quoted_on_a_terminal_alone(
    name: str, quoted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert names.shown(name) == name
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: True))
    assert names.shown(name) == quoted


def pages_with(dentry: dict[str, int], present: list[int], digest: str = "1") -> list[TreePage]:
    """Two pages of one group: the root with these names, and these files."""
    root = TreePage(1, digest, {ROOT: dentry}, {}, ROOT, [], 0, 0, 1)
    return [root, TreePage(1, digest, dict.fromkeys(present), {}, 0, [], 0, 0, 1)]


FILE = 1 << GROUP_SHIFT | 9


@pytest.mark.parametrize(
    ("passes", "faults"),
    [
        ([({"a": FILE}, [FILE])] * 3, 0),
        ([({"a": FILE}, []), ({"a": FILE}, [FILE]), ({}, [])], 0),
        ([({"a": FILE}, [])] * 3, 1),
    ],
)
def test_under_load_a_fault_is_what_every_pass_finds(
    passes: list[tuple[dict[str, int], list[int]]], faults: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = iter(passes)

    async def pages_of(lab: Any, group: str) -> list[TreePage]:
        return pages_with(*next(ahead))

    async def unchanged(lab: Any, pages: Any) -> bool:
        return False

    monkeypatch.setattr(fsck, "pages_of", pages_of)
    monkeypatch.setattr(fsck, "unchanged", unchanged)
    groups = [SimpleNamespace(name="g1")]
    lab: Any = SimpleNamespace(
        home=SimpleNamespace(file=SimpleNamespace(cluster=SimpleNamespace(groups=groups)))
    )
    found = asyncio.run(fsck.check(lab))
    assert (len(found["faults"]), found["still"]) == (faults, False)
