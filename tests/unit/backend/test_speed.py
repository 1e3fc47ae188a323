"""The speed of the machine, and tests under a share of the processors."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from backend import speed
from tests.runner.throttled import PERIOD_US, limit


def test_the_processors_of_the_reference_work_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All measurements begin before the first is awaited; their mean counts."""
    reported: list[str] = []

    class Working:
        def __init__(self, command: list[str], **options: Any) -> None:
            reported.append("begins")

        def communicate(self) -> tuple[bytes, None]:
            reported.append("ends")
            return f"{speed.REFERENCE_MS * reported.count('ends')}".encode(), None

    monkeypatch.setattr(subprocess, "Popen", Working)
    assert speed.measured() == 1.5
    assert reported == ["begins", "begins", "ends", "ends"]


def test_a_machine_has_a_speed() -> None:
    assert 1 <= speed.measured() <= speed.MOST


@pytest.mark.parametrize("version", [1, 2])
def test_a_group_of_processes_is_given_a_share(version: int, tmp_path: Path) -> None:
    quota_us = round(0.25 * (os.cpu_count() or 1) * PERIOD_US)
    if version == 2:
        (tmp_path / "cpu.max").write_text("max 100000")
    limit(tmp_path, 0.25)
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    limit(tmp_path, None)
    ended = {path.name: path.read_text() for path in tmp_path.iterdir()}
    if version == 2:
        assert (written, ended) == (
            {"cpu.max": f"{quota_us} {PERIOD_US}"},
            {"cpu.max": f"max {PERIOD_US}"},
        )
    else:
        period = {"cpu.cfs_period_us": str(PERIOD_US)}
        assert written == {**period, "cpu.cfs_quota_us": str(quota_us)}
        assert ended == {**period, "cpu.cfs_quota_us": "-1"}
