"""The core that must serve stands alone: no server that is left out takes part behind a link that is half there."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from backend.scenarios.reader import read
from nodes.config import SECOND, JournalConfig, one_group
from nodes.explore import trial as trial_module
from nodes.explore.core import heal_core, members_to_lose, spared
from nodes.explore.plan import Failure, Fault, Plan
from nodes.explore.prober import Prober
from nodes.explore.trial import Trial, run
from nodes.metadata.operations import Mkdir
from nodes.trace.events import FaultInjected

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


def failures(directory: Path, text: str) -> list[Failure]:
    path = directory / "trial.yaml"
    path.write_text(text)
    [scenario] = read(path)
    return run(scenario.plan()).failures


def test_a_left_out_leader_that_one_server_of_the_core_does_not_hear_is_cut_off(tmp_path: Path) -> None:
    assert failures(tmp_path, HALF_THERE) == []


ENDS_WHEN_LEFT_OUT = """
name: a fault at the link of an idle leader to coordination would end when this leader is left out
teaches: joined to coordination alone, it would keep the lock, and operations of both groups would wait for it
seed: 1
trial:
  cluster:
    protocol: PROTOCOL
    placement: random
    groups:
    - {name: g1, number: 1, members: [mds1, mds2]}
    - {name: g2, number: 2, members: [mds3, mds4]}
    timing: {heartbeat_ms: 250, session_timeout_ms: 1000}
    journal: {nodes: [NODES]}
  faults:
    - {verb: delay, targets: [active of g2, coordination], options: {ms: 1}, at_ms: 900, for_ms: 200}
  span_ms: 1000
"""


@pytest.mark.parametrize(("protocol", "nodes"), [("avatar", "jn1"), ("qjm", "jn1, jn2, jn3")])
def test_a_left_out_leader_stays_cut_off_when_an_earlier_fault_would_end(
    protocol: str, nodes: str, tmp_path: Path
) -> None:
    text = ENDS_WHEN_LEFT_OUT.replace("PROTOCOL", protocol).replace("NODES", nodes)
    assert failures(tmp_path, text) == []


def test_a_left_out_server_may_return_at_the_end_of_its_fault() -> None:
    trial = Trial(Plan(1, one_group(2), span_ms=1))
    trial.faults.take_up(Fault("crash", ["mds2"], for_ms=700))
    trial.faults.keep_links()
    trial.cluster.run_for(1 * SECOND)
    assert trial.cluster.servers["mds2"].process == "running"


def crashed_last(trial: Trial) -> list[str]:
    """Metadata servers that the trial itself crashed."""
    injected = [each.event for each in trial.events if type(each.event) is FaultInjected]
    crashed = [name for event in injected if event.verb == "crash" for name in event.targets]
    return [name for name in crashed if name.startswith("mds")]


@pytest.mark.parametrize(
    ("standbys", "faults", "lost"),
    [
        (2, [], 1),
        (1, [], 0),
        (2, [Fault("new_disk", ["standby of g1"], at_ms=500)], 1),
        (2, [Fault("gone", ["standby of g1"])], 0),
    ],
)
def test_a_cluster_at_rest_loses_a_member_where_it_may(standbys: int, faults: list[Fault], lost: int) -> None:
    trial = Trial(Plan(1, one_group(standbys), faults=faults, span_ms=1_000))
    assert trial.run().clean and len(crashed_last(trial)) == lost


def test_leaders_and_others_are_lost() -> None:
    """A server that counts without serving shows a leader that is no member."""
    config = one_group(2)
    trial = Trial(Plan(1, config, span_ms=1))
    cluster = trial.cluster
    cluster.run_until(cluster.settled, 60 * SECOND)
    lost = [members_to_lose(cluster, trial.atlas, config, Random(seed)) for seed in range(16)]
    assert all(len(names) == 1 for names in lost)
    assert {cluster.places[name] for [name] in lost} == {"active", "standby"}


def test_the_last_server_of_a_group_stays() -> None:
    """Beside a shared journal one server is enough, when another one is gone for ever and a third was removed."""
    config = one_group(2, protocol="qjm", journal=JournalConfig(["jn1", "jn2", "jn3"]))
    trial = Trial(Plan(1, config, span_ms=1))
    cluster = trial.cluster
    cluster.run_until(cluster.settled, 60 * SECOND)
    gone, removed = [name for name, place in cluster.places.items() if place == "standby"]
    prober = Prober(cluster, "prober")
    prober.run(prober.client.client.call(Mkdir("/a")))
    trial.atlas.note("gone", [gone])
    cluster.faults.do("remove_server", [removed])
    cluster.run_until(lambda: removed not in cluster.configured["g1"], 60 * SECOND)
    cluster.faults.do("gone", [gone])
    lost = [members_to_lose(cluster, trial.atlas, config, Random(seed)) for seed in range(16)]
    lost += [heal_core(cluster, trial.atlas, config, Random(seed)) for seed in range(16)]
    assert all(name.startswith("jn") for names in lost for name in names)


def test_servers_that_cannot_go_on_without_the_leader_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_module, "members_to_lose", lambda *_: ["mds1", "mds2"])
    [failure] = run(Plan(1, one_group(2), span_ms=1)).failures
    assert (failure.invariant, failure.place) == ("service", "members")
    assert "without mds1, mds2" in failure.explanation


REMOVED_BY_THE_LEFT_OUT = """
name: a leader that reaches coordination alone has removed one of the two others
teaches: who takes over renews the removed one, however long acknowledgements are awaited
seed: 4512
trial:
  cluster:
    protocol: 2pc
    groups:
    - {name: g1, number: 1, members: [mds1, mds2, mds3]}
    timing: {heartbeat_ms: 250, session_timeout_ms: 1000, ack_timeout_ms: 1200}
  faults:
    - {verb: cut, targets: [first active of g1, first standby 2 of g1]}
  span_ms: 1996
"""


def test_who_takes_over_from_a_leader_that_has_removed_another_one_serves(tmp_path: Path) -> None:
    assert failures(tmp_path, REMOVED_BY_THE_LEFT_OUT) == []


def test_where_all_must_answer_a_group_keeps_its_floor() -> None:
    group = one_group(4, protocol="2pc")
    assert [spared("g1", members, group) for members in (5, 4, 3, 2)] == [2, 1, 0, 0]
    assert [spared("g1", members, one_group(4)) for members in (5, 4, 3, 2)] == [2, 1, 1, 0]


AWAY_WHEN_RECORDED = """
name: the first primary is paused before any disk is recorded, and back when the core is healed
teaches: with one whose disk is recorded it makes up a majority
seed: 20271
trial:
  cluster:
    protocol: packed-paxos
    groups:
    - {name: g1, number: 1, members: [mds1, mds2, mds3]}
  faults:
    - {verb: delay, targets: [mds2, coordination], options: {ms: 10}}
    - {verb: delay, targets: [mds3, coordination], options: {ms: 10}}
    - verb: pause
      targets: [whoever of g1]
      on: {kind: step, server: whoever of g1, name: upgrade/3}
  span_ms: 6300
  unsettled_ms: 0
"""


def test_a_paxos_member_that_was_away_when_disks_were_recorded_counts(tmp_path: Path) -> None:
    assert failures(tmp_path, AWAY_WHEN_RECORDED) == []
