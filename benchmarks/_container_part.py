"""`python -m benchmarks._container_part ROUNDS FAILOVERS`: the part of `bench containers` that runs inside the control plane's container."""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path

import uvloop

from backend.fabrics.containers import in_containers
from backend.fabrics.fabric import ClusterFabric
from benchmarks import failover, rounds
from benchmarks._cluster import quantile
from nodes.config import Timing, one_group

PAPER_TIMING = Timing()
"""Session timeout 5 s, heartbeat 2 s (CFS §5.4)."""


def make(directory: Path, config, on_events, workload) -> ClusterFabric:  # type: ignore[no-untyped-def]
    return in_containers(directory, config, on_events, workload)


def main() -> int:
    """Prints one JSON object of figures on its last line."""
    gc.set_threshold(200_000, 50, 1000)
    clean, calls, failed = uvloop.run(rounds.measure(int(sys.argv[1]), 1, make))
    splits, gaps, broken = uvloop.run(
        failover.measure(int(sys.argv[2]), "cut", "heal", one_group(timing=PAPER_TIMING), make)
    )
    after = [split.election_ms + split.switch_ms + (split.reconnect_ms or 0.0) for split in splits]
    figures = {
        "rounds_clean": clean,
        "calls": calls,
        "failed_calls": failed + broken,
        "after_session_ms_p50": round(quantile(after, 0.5), 1),
        "after_session_ms_max": round(max(after), 1),
        "detection_ms_p50": round(quantile([split.detection_ms for split in splits], 0.5), 1),
        "election_ms_p50": round(quantile([split.election_ms for split in splits], 0.5), 1),
        "switch_ms_p50": round(quantile([split.switch_ms for split in splits], 0.5), 1),
        "reconnect_ms_p50": round(quantile([split.reconnect_ms or 0.0 for split in splits], 0.5), 1),
        "gap_ms_p50": round(quantile(gaps, 0.5), 1),
        "failovers": len(splits),
    }
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
