"""The clusters beside the main one when the control plane starts again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backend.fleet.fleet import LOAD_FILE, Fleet


def test_only_the_clusters_of_labs_and_papers_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = {
        "lab-0a": ["cluster.json"],
        "paper-0a": ["cluster.json"],
        "lab-mine": ["cluster.json", LOAD_FILE],
    }
    for name, files in there.items():
        (tmp_path / "beside" / name).mkdir(parents=True)
        for file in files:
            (tmp_path / "beside" / name / file).write_bytes(b"{}")
    main: Any = SimpleNamespace(home=SimpleNamespace(path=tmp_path))
    fleet, opened = Fleet(main), []

    async def opening(name: str, *settings: Any) -> None:
        opened.append(name)

    monkeypatch.setattr(fleet, "_open", opening)
    asyncio.run(fleet.start())
    assert opened == ["lab-mine"]
    assert [path.name for path in (tmp_path / "beside").iterdir()] == ["lab-mine"]
