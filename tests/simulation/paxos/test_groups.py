"""Clusters of several groups: cross-group operations through failovers, reads at primaries only, images of each group."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Create, List, Mkdir, Operation, Rename, Stat
from nodes.storage import journal_file
from nodes.trace.events import Called, JournalOpened, SharedStep
from nodes.trace.pool_events import JournalPruned
from nodes.wire.messages import Request
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.dcfs2.test_crashes import GENERAL, S2PC, run_with_a_crash

FAMILIES = ("packed-paxos", "multi-paxos")


def prepared(protocol: str, seed: int = 7) -> Groups:
    """A directory in one group, and below it objects with homes in other groups."""
    lab = Groups(seed, 2, 2, placement="random", protocol=protocol)
    lab.ada.call(Mkdir("/d"))
    for number in range(4):
        lab.ada.call(Mkdir(f"/d/sub{number}"))
        lab.ada.call(Create(f"/d/file{number}"))
    lab.ada.call(Mkdir("/e"))
    return lab


@pytest.mark.parametrize("late", [False, True], ids=["lost", "late"])
@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("step", S2PC)
@pytest.mark.parametrize("operation", [Create("/d/new"), Mkdir("/d/new")], ids=["create", "mkdir"])
def test_two_phases_through_a_failover(operation: Operation, step: str, group: int, late: bool) -> None:
    lab = prepared("packed-paxos")
    run_with_a_crash(lab, operation, step, group, False, late)
    lab.finish()


@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("step", GENERAL)
@pytest.mark.parametrize("protocol", FAMILIES)
def test_a_move_through_a_failover(protocol: str, step: str, group: int) -> None:
    lab = prepared(protocol)
    assert run_with_a_crash(lab, Rename("/d/sub1", "/e/there"), step, group, False, True)
    assert lab.eve.call(List("/e")).result.names == ["there"]  # type: ignore[union-attr]
    lab.finish()


@pytest.mark.parametrize("protocol", FAMILIES)
def test_only_primaries_answer_reads_and_clients_ask_them(protocol: str) -> None:
    lab = prepared(protocol)
    asked: set[str] = set()

    def listens(sender: str, receiver: str, message: object) -> bool:
        if isinstance(message, Request) and type(message.operation) is Stat:
            asked.add(receiver)
        return False

    lab.eve.call(Stat("/d"))
    lab.eve.call(Stat("/d/sub1"))
    lab.cluster.hold(listens)
    for number in range(4):
        lab.eve.call(Stat(f"/d/sub{number}"))
        lab.eve.call(Stat(f"/d/file{number}"))
    primaries = {lab.active(1), lab.active(2)}
    reads = [
        s.event for s in lab.cluster.events if type(s.event) is Called and type(s.event.operation) is Stat
    ]
    assert {read.server for read in reads} <= primaries
    assert asked <= primaries
    lab.finish()


def test_what_a_group_commits_for_another_is_reported() -> None:
    lab = prepared("packed-paxos")
    steps = {s.event.step for s in lab.cluster.events if type(s.event) is SharedStep}
    assert {"begin", "decide", "vote"} <= steps
    lab.finish()


def test_each_group_prunes_and_starts_from_its_images(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 2_000)
    lab = Groups(3, 2, 2, placement="random", protocol="packed-paxos", image_every=20)
    lab.ada.call(Mkdir("/d"))
    for number in range(160):
        lab.ada.call(Create(f"/d/f{number}"))
        if number % 40 == 39:
            lab.cluster.run_for(3 * SECOND)
    pruned = {s.server for s in lab.cluster.events if type(s.event) is JournalPruned}
    for group in (1, 2):
        assert pruned & set(lab.servers(group))
        for name in lab.servers(group):
            lab.cluster.faults.power_loss(name)
    for group in (1, 2):
        for name in lab.servers(group):
            lab.cluster.faults.restart(name)
    lab.settle()
    opened = [s for s in lab.cluster.events if type(s.event) is JournalOpened and s.event.image_sn]
    assert pruned <= {s.server for s in opened}
    assert len(lab.eve.call(List("/d")).result.names) == 160  # type: ignore[union-attr]
    lab.finish()
