"""Rollback to a checkpoint: every replica ends at the barrier, later groups are quarantined, and the cluster continues to serve (safety rule 14)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND, Holes
from nodes.errors import FsError
from nodes.metadata import fsck
from nodes.metadata.operations import Create, List, Mkdir, Rename, Stat
from nodes.metadata_server.checkpoints.incarnation import FILE, aside
from nodes.sim.loop import Stuck
from nodes.storage import journal_file
from nodes.trace.checkpoints import TakenBack
from nodes.trace.events import JournalPruned, Stopped, Warned
from tests.simulation.recovery.lab import Checkpoints
from tests.simulation.recovery.schedules import SCHEDULES


@pytest.fixture
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of some groups, so that pruning has something to remove."""
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 4000)


def exists(lab: Checkpoints, path: str) -> bool:
    try:
        lab.ada.call(Stat(path))
    except FsError as error:
        assert error.name == "ENOENT"
        return False
    return True


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_every_replica_is_as_it_was_at_the_barrier(groups: int) -> None:
    lab = Checkpoints(3, groups, 2, placement="random")
    lab.fill("a")
    lab.mark("one")
    before, digests = lab.content(), [page.digest for page in lab.pages()]
    lab.fill("b")
    lab.recover("one")
    reported = lab.taken_back()
    assert len(reported) == 3 * groups
    for group, digest in zip(lab.config.groups, digests, strict=True):
        barrier = lab.barriers("one")[group.name]
        assert f"{barrier.digest:016x}" == digest
        assert {(e.sn, e.crc, e.digest) for e in reported if e.group == group.name} == {
            (barrier.sn, barrier.crc, barrier.digest)
        }
    assert sum(e.operations for e in reported) >= 3 * 13
    assert lab.content() == before and fsck.faults(lab.pages()) == []
    assert not exists(lab, "/b") and exists(lab, "/a")
    lab.fill("c")
    lab.finish()
    assert lab.invariants.invariants()[-1]["state"] == "green"


def test_no_inode_number_is_given_again() -> None:
    lab = Checkpoints(4, 2, 0, placement="random")
    lab.mark("one")
    lab.fill("b")
    numbers = {number for page in lab.content() for number in page}
    lab.recover("one")
    left = {number for page in lab.content() for number in page}
    lab.fill("c")
    again = {number for page in lab.content() for number in page} - left
    assert again and not again & numbers
    lab.finish()


def test_many_checkpoints_and_back_again() -> None:
    """To a newer one, then to an older one. Checkpoints in between are refused; a new one can be marked and recovered."""
    lab = Checkpoints(5, 2, 1, placement="random")
    for name in ("one", "two", "three"):
        lab.fill(f"before-{name}", 2)
        lab.mark(name)
    lab.fill("late", 2)
    lab.recover("two")
    assert exists(lab, "/before-two") and not exists(lab, "/before-three")
    assert lab.states() == {"one": "complete", "two": "complete", "three": "aside"}
    assert "set aside" in lab.refusal({"do": "recover", "name": "three"})
    lab.fill("more", 2)
    lab.mark("four")
    lab.fill("after-four", 2)
    lab.recover("four")
    assert exists(lab, "/more") and not exists(lab, "/after-four")
    lab.recover("one")
    lab.recover("one")
    assert not exists(lab, "/before-two") and exists(lab, "/before-one")
    assert lab.states() == {"one": "complete", "two": "aside", "three": "aside", "four": "aside"}
    assert {e.incarnation for e in lab.taken_back()} == {1, 2, 3, 4}
    lab.fill("end", 2)
    lab.finish()


def test_a_sleeper_that_returns_with_a_longer_journal_goes_back_too() -> None:
    lab = Checkpoints(6, 2, 2, placement="random")
    lab.fill("a", 2)
    lab.mark("one")
    lab.fill("b", 4)
    sleeper = next(name for name in lab.servers(1) if lab.cluster.view()[name] == "S")
    lab.cluster.faults.crash(sleeper)
    lab.run_ms(8_000)
    answer = lab.ask({"do": "recover", "name": "one"})
    assert answer["incarnation"] == 1
    lab.run_ms(8_000)
    lab.call(Mkdir("/new"))
    lab.cluster.faults.restart(sleeper)
    lab.settle()
    (back,) = lab.reported(TakenBack, sleeper)
    assert back.groups > 0 and back.operations > 0
    files = lab.cluster.servers[sleeper].store.files
    assert any(path.startswith(f"{aside(1)}/journal/") for path in files)
    assert exists(lab, "/new") and not exists(lab, "/b")
    lab.finish()


@pytest.mark.parametrize("after_ms", [1, 2, 3, 4, 6, 9])
def test_a_power_loss_while_going_back_changes_nothing(after_ms: int) -> None:
    """Unfinished parts are done again; the set-aside data is complete."""
    lab = Checkpoints(7, 2, 1, placement="random")
    lab.fill("a", 2)
    lab.mark("one")
    lab.fill("b", 6)
    lasts = [page.digest for page in lab.pages()]
    assert lasts
    counts = {
        group.name: lab.ask({"do": "count_after", "sn": lab.barriers("one")[group.name].sn}, group.members[0])
        for group in lab.config.groups
    }
    task = lab.begin({"do": "recover", "name": "one"})
    lab.cluster.run_until(task.done, 10 * SECOND)
    lab.run_ms(after_ms)
    for name, server in lab.cluster.servers.items():
        if server.group:
            lab.cluster.faults.power_loss(name)
    lab.run_ms(6_000)
    lab.mend()
    lab.settle()
    for server, group in ((lab.active(number), f"g{number}") for number in (1, 2)):
        reported = [e for e in lab.reported(TakenBack, server)]
        assert reported[-1].operations >= counts[group]["operations"] > 0
    assert exists(lab, "/a") and not exists(lab, "/b")
    lab.finish()


def test_calls_in_flight_go_on_after_the_recovery() -> None:
    """Each is answered once, by the new incarnation or not at all; a client of a later session is refused once."""
    lab = Checkpoints(8, 2, 1, placement="random")
    lab.fill("a", 2)
    lab.mark("one")
    lab.eve.call(Mkdir("/eve"))
    calls: list[Any] = [lab.ada.spawn(Create(f"/a/f{number}")) for number in range(30)]
    calls += [lab.ada.spawn(Rename("/a/d0", f"/a/e{number}")) for number in range(4)]
    lab.run_ms(3)
    task = lab.begin({"do": "recover", "name": "one"})
    lab.cluster.run_until(lambda: task.done() and all(call.done() for call in calls), 60 * SECOND)
    assert all(call.exception() is None or call.exception().name == "ENOENT" for call in calls)
    lab.settle()
    listed = lab.ada.call(List("/a")).result
    assert set(listed.names) <= {"d0", "d1", *(f"f{n}" for n in range(30)), *(f"e{n}" for n in range(4))}
    with pytest.raises(FsError, match="ESTALE"):
        lab.eve.call(Mkdir("/eve"))
    lab.eve.call(Mkdir("/eve"))
    lab.finish()


def test_a_kept_checkpoint_outlives_pruning(short_segments: None) -> None:
    lab = Checkpoints(9, 1, 2, image_every=20)
    for number in range(3):
        lab.fill(f"first{number}", 20)
        lab.run_ms(3_000)
    assert lab.reported(JournalPruned)
    lab.mark("one")
    before = lab.content()
    lab.fill("b", 30)
    lab.run_ms(8_000)
    lab.fill("c", 20)
    lab.run_ms(8_000)
    lab.recover("one")
    assert all(e.sn for e in lab.taken_back())
    assert lab.content() == before
    assert any(
        p.startswith(f"{aside(1)}/image/") for s in lab.cluster.servers.values() for p in s.store.files
    )
    lab.fill("d", 20)
    lab.finish()


def test_a_server_with_a_damaged_incarnation_file_is_renewed() -> None:
    lab = Checkpoints(10, 1, 2)
    lab.mark("one")
    lab.recover("one")
    victim = next(name for name, letter in lab.cluster.view().items() if letter == "S")
    lab.cluster.faults.crash(victim)
    lab.cluster.servers[victim].store.files[FILE].data[-1] ^= 1
    lab.cluster.faults.restart(victim)
    lab.run_ms(100)
    assert "wrong checksum" in lab.reported(Warned, victim)[0].what and not lab.reported(Stopped, victim)
    lab.fill("after", 3)
    lab.run_ms(6_000)
    lab.settle()
    files = lab.cluster.servers[victim].store.files
    assert f"aside/damaged-01/{FILE}" in files and FILE in files and "unfit" not in files
    lab.finish()


@pytest.mark.parametrize("hole", SCHEDULES)
def test_an_open_hole_is_found_by_a_seed_search(hole: str, short_segments: None) -> None:
    schedule, groups = SCHEDULES[hole]
    for seed in range(10):
        lab = Checkpoints(seed, groups, 1, placement="random", image_every=20, holes=Holes(**{hole: True}))
        try:
            schedule(lab)
            lab.finish()
        except (Stuck, AssertionError):
            pass
        lab.invariants.finish()
        if any(each.invariant == "exactly up to the barrier" for each in lab.invariants.failures):
            return
    pytest.fail(f"no seed of 10 shows {hole}")


@pytest.mark.parametrize("hole", SCHEDULES)
@pytest.mark.parametrize("seed", range(3))
def test_closed_it_harms_nobody(hole: str, seed: int, short_segments: None) -> None:
    schedule, groups = SCHEDULES[hole]
    lab = Checkpoints(seed, groups, 1, placement="random", image_every=20)
    schedule(lab)
    lab.finish()
    assert lab.invariants.invariants()[-1]["state"] == "green"
