"""The core that must serve stands alone: no server that is left out takes part behind a link that is half there."""

from __future__ import annotations

from pathlib import Path

from backend.scenarios.reader import read
from nodes.explore.trial import run

HALF_THERE = """
name: the leader of another group is left out, and one server of the core does not hear it
teaches: operations of both groups would wait for it as long as its session lives
seed: 254
trial:
  cluster:
    protocol: qjm
    placement: subtree
    groups:
    - {name: g1, number: 1, members: [mds2, mds3]}
    - {name: g2, number: 2, members: [mds4, mds5, mds6]}
    timing: {heartbeat_ms: 250, session_timeout_ms: 1000, ack_timeout_ms: 200, draw_wait_ms: 10, renew_scan_ms: 50}
    session_ttl_ms: 2000
    image_partitions: 2
    image_store: hdfs_pipeline
    journal: {nodes: [jn1, jn2, jn3]}
    knobs: {recent_records: 1, records_per_group: 1}
  callers: [{name: c2, calls: [create /c2-11, mkdirs /d1/d1], start_ms: 2930}]
  faults:
    - verb: cut
      targets: [mds3]
      options: {direction: from}
      on: {kind: sync, server: active of g2, ordinal: 7, when: before}
  span_ms: 5930
"""


def test_a_left_out_leader_that_one_server_of_the_core_does_not_hear_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "trial.yaml"
    path.write_text(HALF_THERE)
    [scenario] = read(path)
    assert run(scenario.plan()).failures == []
