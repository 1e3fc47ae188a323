"""Servers that can roll back to a checkpoint: copies follow renewed servers, and a recovery that would lose data is refused (safety rule 14)."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir
from nodes.storage import journal_file
from nodes.trace.events import Renewing
from tests.simulation.recovery.lab import Checkpoints
from tests.simulation.recovery.mutations import images, marked, others, work


@pytest.fixture(autouse=True)
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 500)


def lab_of(seed: int, standbys: int = 2) -> Checkpoints:
    return Checkpoints(seed, 1, standbys, image_every=20, image_gap=30, image_partitions=4)


def replace(lab: Checkpoints, server: str) -> None:
    """Gives a server an empty disk, and waits until it is renewed."""
    lab.cluster.faults.power_loss(server)
    lab.cluster.run_for(8 * SECOND)
    lab.cluster.servers[server].store.files.clear()
    lab.cluster.faults.restart(server)
    lab.run_ms(6_000)
    lab.settle()


def recover_without(lab: Checkpoints, name: str) -> None:
    """Rolls back while a server is down, and waits for service."""
    backs = len(lab.taken_back())
    answer = lab.ask({"do": "recover", "name": name})
    assert answer.get("checkpoint") == name, answer
    lab.cluster.run_until(lambda: len(lab.taken_back()) >= backs + 2, 60 * SECOND)
    lab.run_ms(8_000)
    lab.call(Mkdir(f"/without-{backs}"))


def test_a_checkpoint_is_copied_to_every_server_that_is_renewed() -> None:
    lab = lab_of(1)
    needed = marked(lab)
    for server in lab.servers(1):
        replace(lab, server)
        assert "image" in [each.phase for each in lab.reported(Renewing, server)]
        assert images(lab, server)[0] == needed
        work(lab, f"then-{server}", 2)
    lab.recover("one")
    assert all(each.sn for each in lab.taken_back())
    lab.finish()
    assert lab.invariants.failures == []


def test_a_server_that_is_away_is_counted_out_and_comes_back() -> None:
    lab = lab_of(2)
    marked(lab)
    away, other = others(lab)
    lab.cluster.faults.crash(away)
    recover_without(lab, "one")
    work(lab, "new", 2)
    lab.cluster.faults.restart(away)
    lab.run_ms(6_000)
    lab.settle()
    lab.cluster.faults.crash(other)
    lab.fill("more")
    lab.finish()
    assert lab.invariants.failures == []


def test_too_few_servers_are_refused_and_nothing_has_happened() -> None:
    lab = lab_of(3, 3)
    marked(lab)
    away = others(lab)[:2]
    for server in away:
        lab.cluster.faults.pause(server)
    line = lab.refusal({"do": "recover", "name": "one"})
    there = "group g1 can go back to one on 2 of 4 servers, 3 are needed: "
    assert line == there + ", ".join(f"{name} does not answer" for name in sorted(away))
    for server in away:
        lab.cluster.faults.resume(server)
    lab.settle()
    assert lab.states()["one"] == "complete" and lab.taken_back() == []
    lab.recover("one")
    lab.finish()
    assert lab.invariants.failures == []


def test_two_recoveries_in_a_row_with_a_server_away() -> None:
    lab = lab_of(4)
    marked(lab)
    away = others(lab)[0]
    lab.cluster.faults.crash(away)
    recover_without(lab, "one")
    lab.fill("between")
    lab.mark("two")
    before = lab.content()
    work(lab, "lost", 2)
    recover_without(lab, "two")
    recover_without(lab, "two")
    lab.cluster.faults.restart(away)
    lab.run_ms(8_000)
    lab.settle()
    lab.recover("two")
    assert lab.content() == before
    lab.recover("one")
    lab.call(Mkdir("/after"))
    lab.finish()
    assert lab.invariants.failures == []


def test_a_server_that_dies_while_it_goes_back_goes_on_when_it_returns() -> None:
    """All but one lose power at several moments after the transaction."""
    for moment in range(1, 40, 6):
        lab = lab_of(5)
        marked(lab)
        victims = others(lab)
        for server in victims:
            lab.cluster.faults.slow_disk(server, 5)
        task = lab.begin({"do": "recover", "name": "one"})
        lab.cluster.run_until(task.done, 30 * SECOND)
        lab.run_ms(moment * 5)
        for server in victims:
            lab.cluster.faults.power_loss(server)
            lab.cluster.faults.slow_disk(server, 0)
        lab.run_ms(500)
        for server in victims:
            if lab.cluster.servers[server].process == "stopped":
                lab.cluster.faults.restart(server)
        lab.run_ms(8_000)
        lab.settle()
        lab.fill("after")
        lab.finish()
        assert lab.invariants.failures == [], moment


def test_the_dead_of_several_groups_keep_nobody_waiting() -> None:
    """A quorum of each group has reported that it can roll back; the caller gets its answer long before its timeout."""
    lab = Checkpoints(4, 3, 2, image_every=20, image_gap=30, image_partitions=4)
    lab.mark("one")
    fallen = [lab.active(group) for group in (1, 2, 3)]
    asked = next(name for name in lab.servers(1) if name not in fallen)
    for name in fallen:
        lab.cluster.faults.crash(name)
    lab.run_ms(500)
    answering = lab.begin({"do": "recover", "name": "one"}, asked)
    lab.cluster.run_until(answering.done, 4 * SECOND)
    assert answering.result().get("checkpoint") == "one", answering.result()
    for name in fallen:
        lab.cluster.faults.restart(name)
    lab.run_ms(6_000)
    lab.settle()
    lab.finish()
    assert lab.invariants.failures == []
