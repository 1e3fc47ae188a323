"""The baselines: servers and journal nodes die, are cut off, lose power; answered writes stay."""

from __future__ import annotations

import pytest

from nodes.families import FAMILIES
from nodes.metadata.operations import Mkdir, Stat
from nodes.trace.events import Committed, StepTaken, Warned
from nodes.wire.journal_messages import (
    AddEntry,
    EntryAdded,
    JournalWritten,
    NewEpoch,
    StartSegment,
    WriteJournal,
)
from nodes.wire.messages import Mark
from tests.simulation.baselines.lab import SAFE, SHARED, fenced, lab_of
from tests.simulation.mams.lab import Lab


def make(lab: Lab, *paths: str) -> None:
    for path in paths:
        lab.ada.call(Mkdir(path))


@pytest.mark.parametrize("protocol", [*SHARED, "2pc", "backupnode"])
def test_the_active_dies_and_comes_back(protocol: str) -> None:
    lab = lab_of(protocol, 1)
    make(lab, "/a", "/b")
    lab.run_ms(500)
    old = lab.active
    lab.faults.crash(old)
    make(lab, "/c")
    assert lab.active != old
    lab.faults.restart(old)
    lab.cluster.run_until(lambda: lab.cluster.view()[old] == "S")
    make(lab, "/d")
    lab.faults.crash(lab.active)
    for path in ("/a", "/b", "/c", "/d"):
        lab.eve.call(Stat(path))
    lab.finish()
    assert lab.broken() == {}


def test_a_single_server_comes_back_with_its_journal() -> None:
    lab = lab_of("single", 1, standbys=0)
    make(lab, "/a")
    lab.faults.power_loss("mds1")
    lab.faults.restart("mds1")
    lab.eve.call(Stat("/a"))
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", SAFE)
def test_the_power_fails_everywhere(protocol: str) -> None:
    lab = lab_of(protocol, 2)
    make(lab, "/a", "/b")
    names = [*lab.cluster.view(), *lab.cluster.config.journal.nodes]
    for name in names:
        lab.faults.power_loss(name)
    lab.run_ms(6_000)
    for name in names:
        lab.faults.restart(name)
    for path in ("/a", "/b"):
        lab.eve.call(Stat(path))
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", ["qjm", "hadoop-ha", "bookkeeper"])
def test_one_node_of_the_journal_may_be_gone(protocol: str) -> None:
    lab = lab_of(protocol, 3)
    make(lab, "/a")
    gone = lab.cluster.config.journal.nodes[0]
    lab.faults.crash(gone)
    make(lab, "/b", "/c")
    lab.faults.restart(gone)
    make(lab, "/d")
    lab.run_ms(3_000)
    make(lab, "/e")
    lab.finish()
    assert lab.broken() == {}


def test_a_journal_node_that_was_away_copies_what_it_missed() -> None:
    lab = lab_of("qjm", 4)
    make(lab, "/a")
    lab.faults.crash("jn1")
    make(lab, "/b", "/c")
    lab.faults.restart("jn1")
    lab.run_ms(2_500)
    lab.faults.crash("jn2")
    make(lab, "/d")
    assert "jn1" in [s.event for s in lab.cluster.events if type(s.event) is Committed][-1].holders
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", ["qjm", "avatar"])
def test_without_a_majority_nothing_is_answered_until_it_is_back(protocol: str) -> None:
    lab = lab_of(protocol, 5)
    make(lab, "/a")
    nodes = lab.cluster.config.journal.nodes
    for name in nodes[: len(nodes) // 2 + 1]:
        lab.faults.crash(name)
    waiting = lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(3_000)
    assert not waiting.done()
    lab.finish()
    assert waiting.exception() is None and lab.broken() == {}


def test_a_silent_bookie_is_replaced() -> None:
    lab = lab_of("bookkeeper", 6)
    make(lab, "/a")
    held = set(lab.cluster.config.journal.nodes) & set(last_holders(lab))
    gone = sorted(held)[0]
    lab.faults.pause(gone)
    make(lab, "/b")
    assert gone not in last_holders(lab) and len(last_holders(lab)) == 4
    lab.finish()
    assert lab.broken() == {}


def last_holders(lab: Lab) -> list[str]:
    return [s.event for s in lab.cluster.events if type(s.event) is Committed][-1].holders


@pytest.mark.parametrize("protocol", ["qjm", "bookkeeper"])
def test_a_writer_that_was_overtaken_commits_nothing(protocol: str) -> None:
    """Its last group is on its way while another server takes over."""
    lab = lab_of(protocol, 7)
    make(lab, "/a")
    old = lab.active
    late = lab.cluster.hold(
        lambda sender, receiver, message: type(message) in (WriteJournal, AddEntry) and sender == old
    )
    lab.begin(lab.ada, Mkdir("/late"))
    lab.run_ms(20)
    lab.faults.cut(old)
    lab.await_next_active()
    assert fenced(lab)
    lab.faults.heal_all()
    late.release()
    lab.run_ms(3_000)
    lab.eve.call(Mkdir("/b"))
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", ["qjm", "bookkeeper"])
def test_an_acknowledgement_that_comes_after_the_end_of_a_tenure_changes_nothing(protocol: str) -> None:
    lab = lab_of(protocol, 11)
    make(lab, "/a")
    old = lab.active
    acknowledged = lab.cluster.hold(
        lambda sender, receiver, message: type(message) in (JournalWritten, EntryAdded) and receiver == old
    )
    lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(20)
    before = committed_by(lab, old)
    lab.faults.take_lock("g1")
    lab.run_ms(50)
    acknowledged.release()
    lab.run_ms(2_000)
    assert [epoch for epoch in committed_by(lab, old)[len(before) :] if epoch == 1] == []
    lab.eve.call(Stat("/b"))
    lab.finish()
    assert lab.broken() == {}


def committed_by(lab: Lab, server: str) -> list[int]:
    """Epochs of the groups that a server reported as committed."""
    return [s.event.epoch for s in lab.cluster.events if type(s.event) is Committed and s.server == server]


def test_two_phase_commit_waits_for_everybody() -> None:
    """A participant that does not answer blocks all writes until it is removed from the configuration."""
    lab = lab_of("2pc", 8, standbys=2)
    make(lab, "/a")
    lab.faults.pause(lab.standbys[0])
    waiting = lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(300)
    assert not waiting.done()
    lab.cluster.run_until(waiting.done)
    shrunk = [s for s in lab.cluster.events if type(s.event) is StepTaken and s.event.procedure == "shrink"]
    assert shrunk
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize(("protocol", "lost"), [("backupnode", True), ("2pc", False)])
def test_what_was_not_waited_for_can_be_lost(protocol: str, lost: bool) -> None:
    lab = lab_of(protocol, 9)
    make(lab, "/a")
    lab.run_ms(1_000)
    held = lab.hold_journals(*lab.standbys)
    lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(100)
    lab.faults.crash(lab.active)
    held.drop()
    lab.await_next_active()
    lab.begin(lab.eve, Stat("/b"))
    lab.finish()
    assert ("no lost write" in lab.broken()) == lost


def test_hostile_messages_are_ignored() -> None:
    """Messages of lower epochs, of invalid groups, and of kinds that a journal node does not accept."""
    lab = lab_of("qjm", 10)
    make(lab, "/a")
    for message in (
        NewEpoch(1, 0),
        NewEpoch(9, 1),
        WriteJournal(1, 1, 1 << 60, Mark(0, 1, 2, 3), b"no group"),
        StartSegment(1, 1, Mark(0, 9, 1 << 50, 7)),
        AddEntry(1, 1, 1, False, b""),
    ):
        lab.cluster.net.carry("eve", "jn1", [message])
    lab.run_ms(2_000)
    make(lab, "/b")
    assert any(s.server == "jn1" and type(s.event) is Warned for s in lab.cluster.events)
    lab.finish()
    assert lab.broken() == {}


def test_every_family_is_covered() -> None:
    assert {"mams", "single", "backupnode", *SAFE, *SHARED} <= set(FAMILIES)
