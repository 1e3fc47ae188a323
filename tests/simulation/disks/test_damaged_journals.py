"""A journal that is damaged before its end is quarantined, on every kind of server. The server starts with an empty one, and counts once it is
renewed."""

from __future__ import annotations

import itertools

import pytest

from nodes.config import SECOND, JournalConfig
from nodes.families import family_named
from nodes.metadata.operations import Mkdir, Stat
from nodes.storage.records import HEADER
from nodes.trace.events import JournalCorrupt, Stopped, Warned
from nodes.trace.journal_events import JournalStored
from tests.simulation.disks.mutations import FORGETFUL, rot
from tests.simulation.mams.lab import Lab

SHARED = ("qjm", "bookkeeper", "avatar", "hadoop-ha")
NODES = ("qjm", "bookkeeper", "hadoop-ha")
PAXOS = ("packed-paxos", "multi-paxos")


def lab_of(protocol: str, seed: int = 1) -> Lab:
    return Lab(
        seed, standbys=2, protocol=protocol, journal=JournalConfig(family_named(protocol).journal_names())
    )


def rot_in_the_middle(lab: Lab, name: str) -> None:
    lab.faults.crash(name)
    lab.faults.corrupt(name, "journal")
    lab.faults.restart(name)


def assert_begun_anew(lab: Lab, name: str) -> None:
    found = [s for s in lab.cluster.events if s.server == name and type(s.event) is JournalCorrupt]
    assert found and found[0].event.sn > 0, "an event names the record"
    assert any(path.startswith("aside/damaged-01/journal/") for path in lab.cluster.servers[name].store.files)
    assert lab.cluster.servers[name].process == "running"


def write(lab: Lab, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        lab.ada.call(Mkdir(f"/{number}"))


@pytest.mark.parametrize("leads", [True, False])
@pytest.mark.parametrize("protocol", [*SHARED, *PAXOS])
def test_of_a_metadata_server(protocol: str, leads: bool) -> None:
    lab = lab_of(protocol)
    write(lab, 8)
    lab.run_ms(70_000 if protocol == "hadoop-ha" else 2_000)
    name = lab.active if leads else lab.standbys[0]
    rot_in_the_middle(lab, name)
    lab.run_ms(12_000)
    lab.cluster.run_until(lab.cluster.settled, 60 * SECOND)
    assert_begun_anew(lab, name)
    write(lab, 1, 8)
    lab.finish()
    for number in range(9):
        lab.eve.call(Stat(f"/{number}"))
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", NODES)
def test_of_a_node_of_a_shared_journal(protocol: str) -> None:
    lab = lab_of(protocol)
    write(lab, 8)
    name = min(s.server for s in lab.cluster.events if type(s.event) is JournalStored)
    rot_in_the_middle(lab, name)
    write(lab, 4, 8)
    assert_begun_anew(lab, name)
    lab.faults.crash(lab.active)
    lab.await_next_active()
    for number in range(12):
        lab.eve.call(Stat(f"/{number}"))
    lab.finish()
    assert lab.broken() == {}


def test_a_crash_while_it_is_set_aside_is_gone_on_with() -> None:
    for at_us in range(0, 1_600, 200):
        lab = lab_of("packed-paxos", at_us)
        write(lab, 8)
        name = lab.standbys[0]
        lab.faults.crash(name)
        lab.faults.corrupt(name, "journal")
        lab.faults.restart(name)
        lab.cluster.run_for(at_us * 1_000)
        lab.faults.power_loss(name)
        lab.faults.restart(name)
        lab.run_ms(6_000)
        lab.finish()
        lab.eve.call(Stat("/7"))
        assert lab.broken() == {}


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
@pytest.mark.parametrize("verb", ["new_disk", "rot"])
def test_of_an_acceptor_while_another_is_away(verb: str, order: tuple[int, ...]) -> None:
    """Two of three have accepted the last slot; one of them loses its disk. Whichever returns first, no write is lost."""
    lab = lab_of("packed-paxos")
    write(lab, 4)
    active, (first, second) = lab.active, lab.standbys
    lab.faults.crash(second)
    lab.ada.call(Mkdir("/lost"))
    lab.faults.crash(active)
    lab.faults.crash(first)
    if verb == "new_disk":
        lab.faults.new_disk(first)
    else:
        lab.faults.corrupt(first, "journal")
    for place in order:
        lab.faults.restart((active, first, second)[place])
        lab.run_ms(9_000)
    lab.eve.call(Stat("/lost"))
    lab.finish()
    assert lab.broken() == {}


READS_ITS_OWN = ("mams", "symmetric", *PAXOS)


@pytest.mark.parametrize("protocol", [*READS_ITS_OWN, *NODES])
def test_rot_that_is_noticed_while_serving_is_met_as_at_a_start(protocol: str) -> None:
    """A server that was down requests old records, one byte of which has rotted: no traceback, and no server receives it."""
    lab = Lab(
        1,
        standbys=2,
        protocol=protocol,
        journal=JournalConfig(family_named(protocol).journal_names()),
        knobs=FORGETFUL,
    )
    away = lab.standbys[0] if protocol != "symmetric" else "mds3"
    nodes = lab.cluster.config.journal.nodes
    gone = [away, nodes[2]] if nodes else [away]
    for name in gone:
        lab.faults.crash(name)
    lab.ada.call(Mkdir("/rotten"))
    write(lab, 8)
    lab.run_ms(500)
    victims = nodes[:1] or ["mds1" if protocol == "symmetric" else lab.active]
    for name in victims:
        rot(lab, name, b"rotten")
    for name in gone:
        lab.faults.restart(name)
    lab.run_ms(20_000)
    lab.finish()
    assert lab.broken() == {}
    lab.eve.call(Stat("/rotten"))
    stopped = [s for s in lab.cluster.events if type(s.event) is Stopped and s.server in victims]
    assert [s.event.reason.partition(":")[0] for s in stopped] == ["CorruptJournal"]
    found = [s.event for s in lab.cluster.events if type(s.event) in (JournalCorrupt, Warned)]
    assert any("damaged and valid records follow" in getattr(event, "what", "") for event in found)
    assert all(lab.cluster.servers[name].process == "running" for name in victims)


@pytest.mark.parametrize("leads", [True, False])
def test_of_decisions_that_nobody_reads(leads: bool) -> None:
    """Classic two-phase commit: a damaged log of decisions is quarantined, and its server continues."""
    lab = lab_of("2pc")
    write(lab, 8)
    name = lab.active if leads else lab.standbys[0]
    lab.faults.crash(name)
    files = lab.cluster.servers[name].store.files
    path = min(path for path in files if path.startswith("decisions/"))
    files[path].data[HEADER.size + 20] ^= 1
    lab.faults.restart(name)
    lab.run_ms(12_000)
    lab.cluster.run_until(lab.cluster.settled, 60 * SECOND)
    write(lab, 4, 8)
    warned = [s.event.what for s in lab.cluster.events if s.server == name and type(s.event) is Warned]
    assert any("moved to aside/damaged-01" in line for line in warned)
    assert lab.cluster.servers[name].process == "running"
    lab.finish()
    assert lab.broken() == {}
