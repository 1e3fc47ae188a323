"""A standby that was cut off from the active, while the group could not go without it, and lacks groups that are pruned since: it is renewed."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.storage import journal_file
from nodes.trace.events import Applied
from nodes.trace.pool_events import JournalPruned
from tests.simulation.baselines.lab import lab_of
from tests.simulation.mams.lab import Lab


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 300)


def applied(lab: Lab, server: str) -> int:
    return max(s.event.sn for s in lab.cluster.events if s.server == server and type(s.event) is Applied)


def is_pruned_beyond(lab: Lab, apart: str, server: str) -> bool:
    """Whether this server has pruned groups that the standby lacks."""
    first = [
        s.event.first_sn for s in lab.cluster.events if s.server == server and type(s.event) is JournalPruned
    ]
    return bool(first) and first[-1] > applied(lab, apart) + 1


def cut_off(seed: int) -> tuple[Lab, str, str, str]:
    """Two of five servers are gone, so that the other three have to count; the active and one standby prune what the last one lacks.

    Returns the lab, the active, the standby in step and the one that was cut off.
    """
    lab = lab_of("mams", seed, image_every=20, standbys=4)
    lab.ada.call(Mkdir("/a"))
    active, [one, two, apart, near] = lab.active, lab.standbys
    lab.faults.crash(one)
    lab.faults.crash(two)
    lab.run_ms(15_000)
    lab.faults.cut(active, apart)
    for n in range(150):
        lab.ada.call(Mkdir(f"/a{n}"))
        lab.run_ms(100)
    assert is_pruned_beyond(lab, apart, active) and set(lab.standbys) == {near, apart}
    return lab, active, near, apart


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_standby_behind_the_start_of_the_journal_is_renewed(seed: int) -> None:
    """With it, the group goes on when the other standby dies."""
    lab, _, near, apart = cut_off(seed)
    lab.faults.heal_all()
    lab.run_ms(10_000)
    lab.ada.call(Mkdir("/b"))
    lab.run_ms(500)
    assert applied(lab, apart) > 150
    lab.faults.crash(near)
    call = lab.begin(lab.ada, Mkdir("/c"))
    lab.cluster.run_until(call.done, 10 * SECOND)
    lab.eve.call(Stat("/c"))
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_takeover_renews_such_a_standby(seed: int) -> None:
    """The active is gone for ever, and the elected cannot commit without the standby that was cut off."""
    lab, active, _, _ = cut_off(seed)
    lab.faults.crash(active)
    lab.faults.heal_all()
    call = lab.begin(lab.ada, Mkdir("/c"))
    lab.cluster.run_until(call.done, 15 * SECOND)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_backup_whose_groups_are_lost_until_they_are_pruned_is_renewed(seed: int) -> None:
    """The stream of a BackupNode: the active believes that its backup has them."""
    lab = lab_of("backupnode", seed, image_every=20, log_bytes=4_096)
    lab.ada.call(Mkdir("/a"))
    active, [backup] = lab.active, lab.standbys
    lost = lab.hold_journals(backup)
    for n in range(150):
        lab.ada.call(Mkdir(f"/a{n}"))
        lab.run_ms(100)
    lost.drop()
    assert is_pruned_beyond(lab, backup, active)
    lab.ada.call(Mkdir("/b"))
    lab.run_ms(10_000)
    assert applied(lab, backup) > 150
    lab.faults.crash(active)
    lab.eve.call(Stat("/b"))
    lab.finish()
    assert lab.broken() == {}
