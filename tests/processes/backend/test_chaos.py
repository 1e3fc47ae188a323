"""Random faults on real servers: one begins, the next call ends it, because a group of two may have one at a time."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.processes.backend.running import CLOVERLAB, REPOSITORY, Up, up


def chaos(cluster: Up) -> int:
    done = subprocess.run(
        [*CLOVERLAB, "--port", str(cluster.port), "fault", "chaos", "g1", "-o", "json"],
        cwd=REPOSITORY, capture_output=True, timeout=90, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b""), done
    fault: int = json.loads(done.stdout)["fault"]
    return fault


def test_one_call_breaks_and_the_next_one_mends(tmp_path: Path) -> None:
    with up(tmp_path / "data", "--standbys", "1") as cluster:
        first = chaos(cluster)
        assert first and chaos(cluster) == first
