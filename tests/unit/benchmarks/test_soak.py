"""Growth over a soak, and the page on a store with the rows of a week."""

from __future__ import annotations

import asyncio
from pathlib import Path

from benchmarks import _week, soak


def test_growth_leaves_the_filling_of_bounded_things_out() -> None:
    assert soak.growth([1, 5, 9, 10, 10, 10, 10, 10, 10]) == 0
    assert soak.growth([float(n) for n in range(9)]) == 3
    assert soak.growth([4.0]) == 0


def test_a_page_opens_on_a_week_with_a_bounded_answer() -> None:
    found = asyncio.run(_week.opened(events=20_000))
    assert found["week_rows"] > 100_000
    assert found["open_after_week_kb"] < 2_000


def test_files_count_by_kind(tmp_path: Path) -> None:
    for name in ("servers/mds1/trace/1.trace", "servers/mds2/journal/1", "events.db", "servers/mds1/lock"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * 1_000_000)
    assert soak.disk_mb(tmp_path) == {"trace": 1.0, "journal": 1.0, "events.db": 1.0, "servers": 1.0}


def test_a_short_virtual_soak_is_flat_on_disk() -> None:
    found = soak.in_virtual_time(0.05)
    assert found["virtual_violated"] == [] and found["virtual_disk_growth_mb"] < 1
