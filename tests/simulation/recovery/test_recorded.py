"""Recoveries in families with a shared journal, and in Paxos: a record of a journal that is never cut restores the barrier (safety rule 14)."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata import fsck
from nodes.metadata.operations import Mkdir
from nodes.metadata_server.checkpoints.incarnation import aside
from nodes.metadata_server.messages import TakeImage
from nodes.replicas.log import decode_group
from nodes.roles import LEADING
from nodes.storage import journal_file
from nodes.storage.journal_file import Journal
from nodes.storage.records import HEADER
from nodes.trace.checkpoints import TakenBack
from nodes.trace.events import Cut, JournalOpened, RoleChanged
from nodes.trace.pool_events import JournalPruned
from tests.chosen import but_for_slow
from tests.simulation.recovery.mutations import images, others, work
from tests.simulation.recovery.recorded import PAXOS, READ_MS, SHARED, Recorded, is_rollback

every_family = pytest.mark.parametrize(
    "protocol", but_for_slow([*SHARED, *PAXOS], ("hadoop-ha", "multi-paxos"))
)


@pytest.fixture
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of some groups, so that pruning has something to remove."""
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 500)


@every_family
@pytest.mark.parametrize("groups", [1, 2])
def test_every_replica_is_as_it_was_at_the_barrier(protocol: str, groups: int) -> None:
    lab = Recorded(protocol, 3, groups)
    lab.fill("a")
    lab.mark("one")
    before = lab.content()
    lab.fill("b")
    lab.recover("one")
    reported = lab.taken_back()
    assert len(reported) == sum(len(group.members) for group in lab.config.groups)
    for group in lab.config.groups:
        barrier = lab.barriers("one")[group.name]
        ends = {(e.sn, e.crc, e.digest) for e in reported if e.group == group.name}
        assert ends == {(barrier.sn, barrier.crc, barrier.digest)}
    assert sum(e.operations for e in reported) >= 2 * 13
    assert lab.content() == before and fsck.faults(lab.pages()) == []
    assert not lab.exists("/b") and lab.exists("/a")
    lab.fill("c")
    lab.finish()
    assert lab.invariants.invariants()[-1]["state"] == "green"


@every_family
def test_what_came_after_the_barrier_stays_in_the_journal_and_is_copied_aside(protocol: str) -> None:
    lab = Recorded(protocol, 4)
    lab.fill("a", 2)
    lab.mark("one")
    lab.fill("b", 2)
    last_sn = lab.taken_back_after("one")
    for server in lab.servers(1):
        disk = lab.disk(server)
        assert not lab.reported(Cut, server)
        kept = Journal.open(disk, f"{aside(1)}/journal")
        assert (kept.first_sn, kept.last_sn) == (lab.barriers("one")["g1"].sn + 1, last_sn - 1)
    lab.finish()


@every_family
def test_a_copy_that_rots_is_made_again(protocol: str) -> None:
    """No server reads it: its owner starts again, and keeps the damaged one beside it for a person."""
    lab = Recorded(protocol, 4)
    lab.fill("a", 2)
    lab.mark("one")
    lab.fill("b", 4)
    last_sn = lab.taken_back_after("one")
    server = lab.standby()
    lab.cluster.faults.crash(server)
    files = lab.cluster.servers[server].store.files
    path = min(path for path in files if path.startswith(f"{aside(1)}/journal/"))
    files[path].data[HEADER.size + 20] ^= 1
    lab.cluster.faults.restart(server)
    lab.run_ms(READ_MS)
    kept = Journal.open(lab.disk(server), f"{aside(1)}/journal")
    assert (kept.first_sn, kept.last_sn) == (lab.barriers("one")["g1"].sn + 1, last_sn - 1)
    assert f"aside/damaged-01/{path}" in files
    lab.finish()


@every_family
def test_many_checkpoints_and_back_again(protocol: str) -> None:
    """To a newer one, then to an older one, then to one that was marked in between; twice to the same."""
    lab = Recorded(protocol, 5, 2)
    for name in ("one", "two", "three"):
        lab.fill(f"before-{name}", 2)
        lab.mark(name)
    lab.fill("late", 2)
    lab.recover("two")
    assert lab.exists("/before-two") and not lab.exists("/before-three")
    assert lab.states() == {"one": "complete", "two": "complete", "three": "aside"}
    lab.fill("more", 2)
    lab.mark("four")
    lab.fill("after-four", 2)
    lab.recover("four")
    assert lab.exists("/more") and not lab.exists("/after-four") and not lab.exists("/before-three")
    lab.recover("one")
    lab.recover("one")
    assert not lab.exists("/before-two") and lab.exists("/before-one")
    assert {e.incarnation for e in lab.taken_back()} == {1, 2, 3, 4}
    lab.fill("end", 2)
    lab.finish()


@every_family
def test_only_operations_of_the_present_history_are_counted(protocol: str) -> None:
    lab = Recorded(protocol, 6)
    lab.fill("before", 1)
    lab.mark("one")
    question = {"do": "count_after", "sn": lab.barriers("one")["g1"].sn}
    lab.fill("a", 2)
    first = lab.ask(question)["operations"]
    lab.recover("one")
    assert first >= 5 and lab.ask(question)["operations"] == 0
    lab.fill("b", 1)
    second = lab.ask(question)["operations"]
    lab.recover("one")
    assert {(e.incarnation, e.operations) for e in lab.taken_back()} == {(1, first), (2, second)}
    lab.finish()


@every_family
@pytest.mark.parametrize("order", [("two", "one"), ("one", "one"), ("two", "two")])
def test_a_sleeper_reads_two_recoveries_like_any_other_record(protocol: str, order: tuple[str, str]) -> None:
    """It has groups of its own past both barriers, and leads afterwards."""
    lab = Recorded(protocol, 7, standbys=2)
    lab.fill("a", 2)
    lab.mark("one")
    lab.fill("b", 2)
    lab.mark("two")
    lab.fill("c", 3)
    lab.run_ms(3_000)
    sleeper = lab.standby()
    lab.cluster.faults.crash(sleeper)
    for number, name in enumerate(order):
        lab.begin_recovery(name)
        lab.run_ms(5_000)
        lab.call(Mkdir(f"/new-{number}"))
    lab.cluster.faults.restart(sleeper)
    lab.settle()
    assert {e.incarnation for e in lab.reported(TakenBack, sleeper)} == {1, 2}
    lab.hand_over_to(sleeper)
    assert not lab.exists("/c") and not lab.exists("/new-0") and lab.exists("/new-1")
    assert lab.exists("/b") == (order == ("two", "two"))
    lab.finish()


@every_family
def test_the_record_is_applied_only_when_it_is_committed(protocol: str) -> None:
    """Its writer dies before it is committed, and another server rolls back."""
    lab = Recorded(protocol, 8)
    lab.fill("a", 2)
    lab.mark("one")
    lab.fill("b", 2)
    held = lab.cluster.hold(is_rollback)
    lab.begin_recovery("one")
    lab.cluster.run_until(lambda: bool(held.messages), 30 * SECOND)
    lab.run_ms(50)
    assert lab.taken_back() == []
    writer = held.messages[0][0]
    lab.cluster.faults.power_loss(writer)
    held.drop()
    other = next(name for name in lab.servers(1) if name != writer)
    lab.cluster.run_until(lambda: bool(lab.reported(TakenBack, other)), 60 * SECOND)
    lab.mend()
    lab.settle()
    assert not lab.exists("/b") and lab.exists("/a")
    assert {e.incarnation for e in lab.taken_back()} == {1}
    lab.fill("c", 2)
    lab.finish()


@every_family
def test_a_record_whose_writer_dies_after_its_commit_is_not_written_again(protocol: str) -> None:
    lab = Recorded(protocol, 9)
    lab.fill("a", 2)
    lab.mark("one")
    lab.fill("b", 2)
    lab.begin_recovery("one")
    lab.cluster.run_until(lambda: bool(lab.taken_back()), 30 * SECOND)
    writer = next(s.server for s in lab.cluster.events if type(s.event) is TakenBack)
    lab.cluster.faults.power_loss(writer)
    other = next(name for name in lab.servers(1) if name != writer)
    lab.cluster.run_until(lambda: bool(lab.reported(TakenBack, other)), 60 * SECOND)
    lab.mend()
    lab.settle()
    assert len({e.next_sn for e in lab.taken_back()}) == 1
    assert not lab.exists("/b")
    lab.finish()


@every_family
@pytest.mark.parametrize("after_ms", [0, 20, 400])
def test_one_group_fails_over_while_the_other_rolls_back(protocol: str, after_ms: int) -> None:
    lab = Recorded(protocol, 10, 2)
    lab.fill("a", 4)
    lab.mark("one")
    before = lab.content()
    lab.fill("b", 4)
    lab.begin_recovery("one")
    lab.run_ms(after_ms)
    lab.cluster.faults.power_loss(lab.servers(2)[0])
    lab.run_ms(7_000)
    lab.mend()
    lab.settle()
    assert lab.content() == before
    lab.fill("c", 4)
    lab.finish()


@every_family
def test_a_restart_ends_behind_the_record(protocol: str) -> None:
    lab = Recorded(protocol, 11, 2)
    lab.fill("a", 2)
    lab.mark("one")
    lab.fill("b", 2)
    lab.recover("one")
    lab.fill("c", 2)
    before = lab.content()
    for group in lab.config.groups:
        for server in group.members:
            lab.cluster.faults.power_loss(server)
    lab.run_ms(6_000)
    lab.mend()
    lab.settle()
    assert lab.content() == before
    lab.finish()


@every_family
def test_a_kept_checkpoint_outlives_pruning(protocol: str, short_segments: None) -> None:
    """And the journal up to a recovery is pruned when images lie behind it and its checkpoint is deleted."""
    lab = Recorded(protocol, 12, image_every=20)
    lab.work("first", 6)
    assert lab.reported(JournalPruned)
    lab.mark("one")
    before = lab.content()
    lab.work("b", 12)
    lab.recover("one")
    assert all(e.sn for e in lab.taken_back()) and lab.content() == before
    lab.work("c", 12)
    barrier_sn = lab.barriers("one")["g1"].sn
    assert all(e.first_sn <= barrier_sn for e in lab.reported(JournalPruned))
    lab.ask({"do": "delete_checkpoint", "name": "one"})
    lab.work("d", 12)
    assert max(e.first_sn for e in lab.reported(JournalPruned)) > lab.taken_back()[0].next_sn
    lab.finish()


@every_family
def test_a_server_with_a_new_disk_restores_the_barrier_or_passes_over_it(
    protocol: str, short_segments: None
) -> None:
    """Every image that it is offered lies beyond the barrier, and the journal below is pruned."""
    lab = Recorded(protocol, 13, image_every=20)
    lab.work("first", 6)
    lab.mark("one")
    lab.work("b", 12)
    standby = lab.standby()
    lab.begin_recovery("one")
    lab.cluster.faults.do("new_disk", [standby])
    lab.cluster.faults.restart(standby)
    lab.settle()
    lab.work("c", 3)
    assert [e.incarnation for e in lab.reported(TakenBack, standby)][-1] == 1
    lab.hand_over_to(standby)
    assert not lab.exists("/b-0") and lab.exists("/c-0") and lab.exists("/first-0")
    lab.finish()


@every_family
def test_an_image_before_a_recovery_is_no_beginning_of_a_later_checkpoint(protocol: str) -> None:
    """No image is taken between the recovery and the next checkpoint."""
    lab = Recorded(protocol, 18, image_every=20)
    lab.fill("a", 2)
    lab.mark("one")
    lab.work("b", 8)
    lab.cluster.hold(lambda sender, receiver, message: type(message) is TakeImage)
    lab.begin_recovery("one")
    lab.cluster.run_until(lambda: bool(lab.taken_back()) and lab.serves(), 30 * SECOND)
    lab.call(Mkdir("/new"))
    lab.mark("two")
    before = lab.content()
    lab.call(Mkdir("/late"))
    lab.run_ms(2_000)
    lab.recover("two")
    assert lab.content() == before
    lab.finish()


@every_family
def test_an_added_server_reads_the_recovery(protocol: str) -> None:
    lab = Recorded(protocol, 14)
    lab.fill("a", 2)
    lab.mark("one")
    lab.fill("b", 2)
    lab.recover("one")
    lab.cluster.faults.do("add_server", ["g1"])
    lab.fill("c", 2)
    lab.settle()
    added = lab.cluster.faults.added
    assert [e.incarnation for e in lab.reported(TakenBack, added)] == [1]
    assert lab.reported(JournalOpened, added)
    lab.finish()


def test_an_idle_cluster_rolls_back_at_once() -> None:
    """Standbys learn of a barrier although no group follows it."""
    for protocol in (*SHARED, *PAXOS):
        lab = Recorded(protocol, 15)
        lab.mark("one")
        lab.recover("one")
        assert len(lab.taken_back()) == len(lab.servers(1))
        lab.finish()


def test_the_journal_nodes_of_qjm_cut_nothing() -> None:
    lab = Recorded("qjm", 16)
    lab.fill("a", 2)
    lab.mark("one")
    lab.fill("b", 2)
    lab.recover("one")
    barrier = lab.barriers("one")["g1"]
    for node in lab.config.journal.nodes:
        journal = Journal.open(lab.disk(node), "journal")
        [(_, data)] = journal.entries(barrier.sn, barrier.sn)
        assert decode_group(data).epoch == barrier.epoch
        assert journal.first_sn == 1 and journal.last_sn >= lab.taken_back()[0].next_sn
    lab.finish()


@every_family
def test_a_server_that_cannot_restore_the_barrier_never_leads_before_it_has_an_image(
    protocol: str, short_segments: None
) -> None:
    """The image that it would need has rotted, and its journal begins behind it."""
    lab = Recorded(protocol, 17, standbys=2, image_every=20)
    work(lab, "before")
    lab.mark("one")
    work(lab, "after")
    victim, *_ = others(lab)
    needed = images(lab, victim)[0]
    rest = [name for name in lab.servers(1) if name != victim]
    lab.cluster.faults.crash(victim)
    lab.run_ms(6_000)
    lab.cluster.servers[victim].store.files[f"{needed}.p00"].data[-9] ^= 1
    lab.begin_recovery("one")
    lab.run_ms(6_000)
    for name in rest:
        lab.cluster.faults.crash(name)
    lab.run_ms(6_000)
    lab.cluster.faults.restart(victim)
    lab.run_ms(10_000)
    assert any(e.role == "elected" for e in lab.reported(RoleChanged, victim))
    assert not any(e.role in LEADING for e in lab.reported(RoleChanged, victim)[-4:])
    for name in rest:
        lab.cluster.faults.restart(name)
    lab.settle()
    lab.fill("late", 4)
    assert [(e.incarnation, e.sn) for e in lab.reported(TakenBack, victim)] == [(1, 0)]
    lab.hand_over_to(victim)
    assert lab.exists("/late") and lab.exists("/before0") and not lab.exists("/after0")
    lab.finish()
