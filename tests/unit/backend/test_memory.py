"""Memory that runs short is warned of once, in a container by its own limit."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backend.memory_watch import MemoryWatch
from nodes.real.memory import used_share


def test_a_container_counts_its_own_limit_without_the_cache(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("900\n")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 300\n")
    assert used_share(tmp_path) == pytest.approx(0.6)


def test_without_a_limit_the_machine_counts(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "meminfo").write_text("MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 250 kB\n")
    assert used_share(tmp_path, tmp_path / "meminfo") == pytest.approx(0.75)
    assert used_share(tmp_path / "none", tmp_path / "none") == 0


def test_one_warning_for_each_time() -> None:
    said: list[Any] = []
    fabric: Any = SimpleNamespace(report=lambda server, event: said.append(event.what))
    watch = MemoryWatch(fabric)
    for share in (0.5, 0.81, 0.79, 0.9, 0.6, 0.85):
        watch.look(share)
    assert said == ["81% of the memory is used", "85% of the memory is used"]
