"""What a cluster of a class may not exceed."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.cluster_bounds import ClusterBounds
from backend.errors import Impossible, Unavailable
from backend.shape import Shape, new_config
from backend.simulated.inputs import ChangeClock, ClusterOrigin, InjectFault, InputLog, read_log

BOUNDS = ClusterBounds()


def test_what_is_within_the_bounds_passes() -> None:
    BOUNDS.check_speed(1.0)
    BOUNDS.check_time(BOUNDS.until_ns - 1)
    BOUNDS.check_load(20.0, 4)
    BOUNDS.check_load(None, None)
    BOUNDS.check_servers("add_server", 11)
    BOUNDS.check_servers("crash", 100)


def test_what_exceeds_them_is_refused_in_one_line() -> None:
    for refused in (
        lambda: BOUNDS.check_speed(1.01),
        lambda: BOUNDS.check_time(BOUNDS.until_ns),
        lambda: BOUNDS.check_load(20.5, None),
        lambda: BOUNDS.check_load(None, 5),
        lambda: BOUNDS.check_servers("add_server", 12),
    ):
        with pytest.raises(Impossible):
            refused()


def test_a_full_log_takes_no_input_and_can_be_paused(tmp_path: Path) -> None:
    origin = ClusterOrigin(new_config(Shape(), "c"), 1)
    log = InputLog(tmp_path / "1.jsonl", origin, most=6_000)
    with pytest.raises(Unavailable, match="full"):
        for number in range(1_000):
            log.append(number, InjectFault("crash", ["mds1"], {}))
    log.append(1_000, ChangeClock("pause", 1.0))
    log.close()
    assert (tmp_path / "1.jsonl").stat().st_size < 6_200
    _, entries = read_log(tmp_path / "1.jsonl")
    assert all(isinstance(each.input, InjectFault) for each in entries) and entries
