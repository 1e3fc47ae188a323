"""Segments of journal nodes, their pruning, and images that replace a journal: schedules that lost writes, or blocked a group."""

from __future__ import annotations

import pytest

from nodes.config import MILLISECOND, SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.baselines.quorum_journal import QuorumJournal
from nodes.replicas.log import ReplicaLog
from nodes.storage import journal_file
from nodes.trace.events import EpochRaised
from nodes.wire import journal_messages as j
from tests.simulation.baselines.lab import lab_of


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 1000)


def writes(lab, name, count, ms=30):
    for n in range(count):
        lab.ada.call(Mkdir(f"/{name}{n}"))
        lab.run_ms(ms)


def serves(lab, *paths):
    for path in paths:
        assert lab.eve.call(Stat(path), 60 * SECOND).error == "", path


def lose_all_but(lab, name):
    for other in lab.cluster.view():
        if other != name and lab.cluster.servers[other].process != "stopped":
            lab.faults.gone(other)
    lab.cluster.run_for(30 * SECOND)


def process(lab, name):
    return lab.cluster.servers[name].process


def test_segments_stay_until_the_state_that_lets_them_go_is_durable(short):
    lab = lab_of("qjm", 1, image_every=40)
    writes(lab, "z", 3)
    held = lab.cluster.hold(
        lambda s, r, x: r == "jn1" and isinstance(x, (j.FinishSegment, j.StartSegment, j.PruneJournal))
    )
    writes(lab, "a", 200)
    for n in range(400):
        lab.ada.call(Mkdir(f"/b{n}"))
        lab.run_ms(100)
        kinds = [type(x[2]) for x in held.messages]
        if j.FinishSegment in kinds and j.PruneJournal in kinds[kinds.index(j.FinishSegment) :]:
            break
    lab.cluster.run_for(1 * SECOND)
    disk, store = lab.cluster.servers["jn1"].world.disk, lab.cluster.servers["jn1"].store
    first = disk.names("journal")[0]
    store.slow_ns = 100 * MILLISECOND
    lab.ada.call(Mkdir("/the-disk-is-busy"))
    held.release()
    for _ in range(300):
        if disk.names("journal")[0] != first:
            break
        lab.run_ms(1)
    store.slow_ns = 0
    lab.faults.crash("jn1")
    lab.cluster.run_for(1 * SECOND)
    lab.faults.restart("jn1")
    lab.cluster.run_for(1 * SECOND)
    assert process(lab, "jn1") == "running"


def replaced(lab):
    """The standby with a new disk is inside `log.restart_at` of `_begin_from_image`, and its disk is slow."""
    writes(lab, "a", 150)
    lab.cluster.run_for(8 * SECOND)
    [standby] = lab.standbys
    hit, original = [], ReplicaLog.restart_at

    async def restart_at(self, base):
        hit.append(base)
        lab.cluster.servers[standby].store.slow_ns = 2 * SECOND
        await original(self, base)

    ReplicaLog.restart_at = restart_at
    try:
        lab.faults.new_disk(standby)
        lab.faults.restart(standby)
        lab.cluster.run_until(lambda: bool(hit), 60 * SECOND)
    finally:
        ReplicaLog.restart_at = original


def test_who_takes_the_lock_while_an_image_takes_the_journals_place(short):
    lab = lab_of("hadoop-ha", 1, image_every=40)
    replaced(lab)
    active = lab.active
    lab.faults.take_lock("g1")
    lab.faults.crash(active)
    lab.cluster.run_for(20 * SECOND)  # AssertionError: cut to 0 below the image at 119


def test_an_order_for_an_image_while_one_takes_the_journals_place(short):
    lab = lab_of("hadoop-ha", 1, image_every=40)
    replaced(lab)
    for n in range(100):
        lab.begin(lab.ada, Mkdir(f"/more{n}"))
        lab.run_ms(10)  # AssertionError: sn 0 is applied and not in the journal
    lab.cluster.run_for(1 * SECOND)


@pytest.mark.parametrize("protocol", ["qjm", "bookkeeper", "hadoop-ha"])
def test_a_full_log_does_not_wait_for_a_standby_that_reads_nothing(protocol, short):
    lab = lab_of(protocol, 1, image_every=40, log_bytes=65536)
    writes(lab, "a", 10)
    [standby] = lab.standbys
    for node in lab.cluster.config.journal.nodes:
        lab.faults.cut(standby, node)
    for n in range(800):
        lab.ada.call(Mkdir(f"/b{n}"), 60 * SECOND)


@pytest.mark.parametrize("protocol", ["hadoop-ha"])
def test_the_last_server_begins_from_its_own_image(protocol, short):
    lab = lab_of(protocol, 1, image_every=40, standbys=2)
    writes(lab, "a", 10)
    last = lab.standbys[-1]
    for node in lab.cluster.config.journal.nodes:
        lab.faults.cut(last, node)
    writes(lab, "b", 300)
    lab.cluster.run_for(10 * SECOND)
    lab.faults.heal_all()
    lose_all_but(lab, last)
    serves(lab, "/a0", "/b299")  # holds after a restart of `last`


def test_the_last_server_needs_no_image_of_another(short):
    lab = lab_of("qjm", 1, image_every=40, standbys=2)
    writes(lab, "a", 10)
    last = lab.standbys[-1]
    lab.faults.crash(last)
    for k in range(10):
        writes(lab, f"b{k}-", 60)
        lab.cluster.run_for(5 * SECOND)
    for name in [lab.active, *lab.standbys]:
        lab.faults.gone(name) if name != last else None
    lab.faults.restart(last)
    lab.cluster.run_for(60 * SECOND)
    serves(lab, "/a0")


def given_up(lab):
    return [s for s in lab.cluster.events if "can continue the segment" in getattr(s.event, "reason", "")]


def test_a_writer_whose_group_a_majority_refuses_gives_up_soon():
    """The start of its segment never comes to two of three nodes: as soon as they are left out, no answer to what they refused can come."""
    lab = lab_of("qjm", 3)
    writes(lab, "a", 3)
    held = lab.cluster.hold(lambda s, r, x: r in ("jn1", "jn2") and isinstance(x, j.StartSegment))
    lab.faults.do("expire_session", [lab.active])
    lab.cluster.run_until(lambda: bool(given_up(lab)), 60 * SECOND)
    began = max(s.at_ns for s in lab.cluster.events if type(s.event) is EpochRaised)
    assert given_up(lab)[0].at_ns - began < 2 * lab.cluster.config.timing.ack_timeout_ms * MILLISECOND
    held.release()
    lab.cluster.run_until(lab.cluster.settled, 60 * SECOND)
    serves(lab, "/a0", "/a2")
    writes(lab, "b", 3)
    lab.finish()
    assert lab.broken() == {}


def test_a_writer_waits_for_the_start_that_its_first_group_overtook():
    """Every writer's start is 200 ms late at two of three nodes, so that no next writer would fare better."""
    lab = lab_of("qjm", 3)
    writes(lab, "a", 3)
    held = lab.cluster.hold(lambda s, r, x: r in ("jn1", "jn2") and isinstance(x, j.StartSegment))
    lab.faults.do("expire_session", [lab.active])
    lab.cluster.run_until(lambda: bool(held.messages), 60 * SECOND)
    lab.run_ms(200)
    held.release()
    lab.await_next_active()
    assert (given_up(lab), lab.serving()[-1].event.epoch) == ([], 2)
    writes(lab, "b", 3)
    lab.finish()
    assert lab.broken() == {}


def test_a_writer_asks_a_majority_that_could_not_be_reached_again():
    """Two of three nodes are cut off for three times the patience with one node."""
    lab = lab_of("qjm", 3)
    writes(lab, "a", 3)
    lab.faults.cut(lab.active, "jn1")
    lab.faults.cut(lab.active, "jn2")
    written = lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(3 * lab.cluster.config.timing.ack_timeout_ms)
    assert not written.done()
    lab.faults.heal_all()
    lab.run_ms(500)
    assert (written.done(), given_up(lab), len(lab.serving())) == (True, [], 1)
    lab.finish()
    assert lab.broken() == {}


def test_a_new_segment_leaves_nobody_out_for_a_group_of_an_earlier_one():
    """One of three nodes lacks a group. A second later, long before the next group, it is back, and another node may be lost."""
    lab = lab_of("qjm", 3)
    writes(lab, "a", 3)
    lost = lab.cluster.hold(lambda s, r, x: r == "jn2" and isinstance(x, j.WriteJournal))
    writes(lab, "jn2-lacks-", 1)
    lost.drop()
    starts = []
    lab.cluster.hold(lambda s, r, x: r == "jn2" and isinstance(x, j.StartSegment) and starts.append(x))
    lab.run_ms(5000)
    assert len(starts) == 1
    lab.faults.crash("jn1")
    written = lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(300)
    assert (written.done(), given_up(lab), len(lab.serving())) == (True, [], 1)
    lab.finish()
    assert lab.broken() == {}


def test_a_disk_that_is_being_replaced_in_the_record_counts_no_more(monkeypatch):
    """jn2 took two groups and then lost its disk; a second copy of the first one reaches the new disk. While that is being recorded, the old disk's
    acknowledgement of the second group comes late. No node but jn1 has this group."""
    recorded, named = [], QuorumJournal._name_disks

    async def name_disks(self, whole):
        recorded.append(whole)
        answer = await named(self, whole)
        await self._world.clock.sleep(30 * MILLISECOND)
        return answer

    monkeypatch.setattr(QuorumJournal, "_name_disks", name_disks)
    lab = lab_of("qjm", 3)
    hold = lab.cluster.hold
    writes(lab, "a", 3)
    lab.cluster.run_for(32 * SECOND)
    answers = hold(lambda s, r, x: isinstance(x, j.JournalWritten))
    lab.begin(lab.ada, Mkdir("/first"))
    lab.run_ms(60)
    copies = hold(lambda s, r, x: r == "jn2" and isinstance(x, j.StartSegment | j.WriteJournal))
    lab.cluster.run_until(lambda: len(copies.messages) == 2, 1 * SECOND)
    first = copies.messages[-1][2]
    copies.match = lambda s, r, x: False
    answers.release()
    lab.run_ms(60)
    late = hold(lambda s, r, x: s == "jn2" and isinstance(x, j.JournalWritten))
    hold(lambda s, r, x: r == "jn3" and isinstance(x, j.WriteJournal))
    written = lab.begin(lab.ada, Mkdir("/second"))
    lab.run_ms(30)
    assert len(late.messages) == 1
    late.match = lambda s, r, x: False
    hold(lambda s, r, x: r == "jn2" and isinstance(x, j.WriteJournal) and x.previous != first.previous)
    lab.faults.new_disk("jn2")
    lab.faults.restart("jn2")
    lab.run_ms(50)
    before = len(recorded)
    copies.release()
    lab.cluster.run_until(lambda: len(recorded) > before, 1 * SECOND)
    late.release()
    lab.run_ms(100)
    assert not written.done()
    lab.finish()
    assert lab.broken() == {}
    serves(lab, "/first", "/second")


def refused_once(lab):
    """Two of three nodes refuse the first copy of a new writer's first group and take the second. Their refusals come behind that."""
    starts = lab.cluster.hold(lambda s, r, x: r in ("jn1", "jn2") and isinstance(x, j.StartSegment))
    refusals = lab.cluster.hold(lambda s, r, x: isinstance(x, j.OutOfStep))
    lab.faults.do("expire_session", [lab.active])
    lab.cluster.run_until(lambda: len(refusals.messages) == 2, 60 * SECOND)
    starts.release()
    lab.await_next_active()
    lab.run_ms(20)
    refusals.release()
    lab.run_ms(5)


def test_who_has_a_group_that_it_refused_takes_the_next_one():
    lab = lab_of("qjm", 3)
    writes(lab, "a", 3)
    refused_once(lab)
    served = len(lab.serving())
    writes(lab, "b", 3)
    assert (given_up(lab), len(lab.serving())) == ([], served)
    lab.finish()
    assert lab.broken() == {}


def test_a_group_that_waits_for_the_next_segment_is_refused_by_nobody():
    lab = lab_of("qjm", 3)
    writes(lab, "a", 3)
    refused_once(lab)
    served = len(lab.serving())
    ends = lab.cluster.hold(lambda s, r, x: isinstance(x, j.FinishSegment))
    lab.cluster.run_until(lambda: bool(ends.messages), 60 * SECOND)
    waits = lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(100)
    ends.release()
    lab.run_ms(300)
    assert (waits.done(), given_up(lab), len(lab.serving())) == (True, [], served)
    lab.finish()
    assert lab.broken() == {}


def test_late_refusals_of_earlier_segments_end_no_later_one():
    """Each of two nodes has refused a group of another segment. All three have the group that is in flight; no answer has come yet."""
    lab = lab_of("qjm", 3)
    writes(lab, "a", 3)
    late = []
    for node in ("jn2", "jn3"):
        lost = lab.cluster.hold(lambda s, r, x, n=node: r == n and isinstance(x, j.WriteJournal))
        writes(lab, f"{node}-lacks-", 1)
        lost.drop()
        late.append(lab.cluster.hold(lambda s, r, x: isinstance(x, j.OutOfStep)))
        writes(lab, f"{node}-refuses-", 1, ms=5)
        assert [sender for sender, _, _ in late[-1].messages] == [node]
        late[-1].match = lambda s, r, x: False
        writes(lab, f"{node}-is-in-step-", 20, ms=100)
    answers = lab.cluster.hold(lambda s, r, x: isinstance(x, j.JournalWritten))
    written = lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(5)
    assert {sender for sender, _, _ in answers.messages} == {"jn1", "jn2", "jn3"}
    for refusal in late:
        refusal.release()
    lab.run_ms(100)
    answers.release()
    lab.run_ms(300)
    assert (written.done(), given_up(lab), len(lab.serving())) == (True, [], 1)
    lab.finish()
    assert lab.broken() == {}
