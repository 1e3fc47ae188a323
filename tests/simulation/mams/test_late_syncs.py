"""A slow sync that ends when its server has read an image."""

from __future__ import annotations

from pathlib import Path

from backend.scenarios.reader import read
from nodes.explore.trial import Trial
from nodes.trace.events import Durable, Renewing

SLOW = """
name: a junior reads an image while its disk still works at a group of before
teaches: this group is reported when the image has come, and the journal goes on behind the image
seed: 710247
trial:
  cluster:
    groups:
    - {name: g1, number: 1, members: [mds1, mds3, mds4]}
    timing: {renew_scan_ms: 50}
    image_gap: 20
    data: {nodes: [dn1], heartbeat_ms: 200, silence_ms: 1200, scrub_ms: 200}
    knobs: {segment_bytes: 2000, recent_records: 1, broadcasts: 2, direct_groups: 4, open_slots: 32, open_calls: 2,
      cached_directories: 3, images_kept: 5}
  callers:
  - {name: c3, calls: [put /h0 700], start_ms: 175}
  - name: c4
    calls: [replicas /d0/h1 2, mkdirs /d0/d2, create /c4-15, create /c4-16, create /c4-17, create /d0/h0, delete-tree /d0,
      mkdir /d0, append /h0 0, create /c4-22, create /c4-23, mkdir /d1, create /d2/c52, link /d0/c33 /h3]
    start_ms: 183
  faults:
  - verb: slow_disk
    targets: [standby of g1]
    options: {ms: 700}
    on: {kind: sync, server: mds3, when: before}
    for_ms: 1
  span_ms: 1056
"""


def test_a_sync_that_ends_when_an_image_has_been_read_is_no_gap(tmp_path: Path) -> None:
    path = tmp_path / "slow.yaml"
    path.write_text(SLOW)
    [scenario] = read(path)
    trial = Trial(scenario.plan())
    assert trial.run().failures == []
    own = [stamped.event for stamped in trial.events if stamped.server == "mds1"]
    late = next(at for at, event in enumerate(own) if type(event) is Durable and event.sn == 2)
    assert any(type(event) is Renewing and event.phase == "image" for event in own[:late]), "no sync is late"
