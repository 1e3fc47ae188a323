from pathlib import Path

import uvloop

from benchmarks.recovery import recover


def test_a_server_comes_to_what_its_log_says_and_settles_what_was_undecided(tmp_path: Path) -> None:
    measured = uvloop.run(recover(tmp_path / "cluster", 0.3, 300))
    assert measured.records > 3_000 and measured.undecided == 300
    assert measured.settle_s > 0 and measured.recovery_s < 30
