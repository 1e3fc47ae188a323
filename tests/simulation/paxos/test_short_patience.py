"""A primary that waits for acknowledgements for less than its usual time until it resends."""

from __future__ import annotations

from pathlib import Path

from backend.scenarios.reader import read
from nodes.explore.trial import run

BEHIND = """
name: a member is behind a primary that is impatient, and takes few slots at once
teaches: decisions that it missed are sent again before it counts as silent
seed: 30972
trial:
  cluster:
    protocol: multi-paxos
    placement: ddg
    granularity: {depth: 1, files: 4}
    groups:
    - {name: g1, number: 1, members: [mds1, mds2, mds3, mds4]}
    timing: {heartbeat_ms: 150, session_timeout_ms: 2000, ack_timeout_ms: 60, draw_wait_ms: 50, client_timeout_ms: 1500,
        call_deadline_ms: 10000}
    session_ttl_ms: 2000
    min_in_step: 2
    image_every: 20
    log_bytes: 4096
    image_partitions: 1
    image_store: hdfs_pipeline
    data: {nodes: [dn1], scrub_ms: 200}
    knobs: {segment_bytes: 2000, broadcasts: 2, open_slots: 1, open_calls: 16, images_kept: 5}
  conditions:
    coordination: {base_us: 10000, spread_us: 20000, tail_share: 0.05, tail_us: 100000}
    sync: {base_us: 20, spread_us: 30, tail_share: 0.001, tail_us: 2000}
    lose: 0.001
    duplicate: 0.01
    reorder: 0.2
    ends_recorded: true
  callers:
  - name: c1
    calls: [delete /h0, delete /h0, delete /h0, create /h1, delete /h1, delete /h1, create /c1-9, create /c1-10, delete /h1]
    lanes: 4
    start_ms: 2422
  - name: c2
    calls: [chmod /h2 600, summary /d2, open /d0/h2, delete-tree /d2/d0, summary /d0/d1, replace /h1 /c2, mkdirs /d0/d0/d1,
        get /h3, rename /d1/d0/c1 /c3, put /h1 512, rename /d0 /d2, create /d1/h0, list /d2]
    pause_us: 50000
  faults:
  - {verb: cut, targets: [first active of g1, first standby 1 of g1], at_ms: 1}
  - {verb: cut, targets: [first active of g1, first standby 2 of g1], at_ms: 1}
  - {verb: crash, targets: [first active of g1], at_ms: 2522}
  - {verb: crash, targets: [first standby 3 of g1], at_ms: 2522}
  - {verb: delay, targets: [mds1, mds2], options: {ms: 5}}
  span_ms: 6522
"""


def test_a_member_that_missed_decisions_comes_back_in_step(tmp_path: Path) -> None:
    path = tmp_path / "trial.yaml"
    path.write_text(BEHIND)
    [scenario] = read(path)
    assert run(scenario.plan()).failures == []
