"""Images in a group: taken by standbys, read by juniors; and pruning below them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from nodes.config import SECOND, WorkloadConfig, one_group
from nodes.format_number import stored
from nodes.invariants import registry
from nodes.metadata.operations import Mkdir, Stat
from nodes.metadata_server.messages import ImageGoesOn, ImageTaken, TakeImage
from nodes.protocols.mams.messages import Renew
from nodes.protocols.vssp.manifest import rank_of
from nodes.protocols.vssp.messages import FilePiece, FileReport, ImagePacket
from nodes.sim.cluster import SimCluster
from nodes.sim.network import HeldMessages
from nodes.storage import journal_file
from nodes.trace.events import JournalOpened, Renewing, StepTaken, Stopped, Warned
from nodes.trace.pool_events import ImageRefused, ImageShelved, ImageWritten, JournalPruned, Repairing
from tests.simulation.mams.lab import Lab

MIX: dict[str, float] = {"create": 5, "mkdir": 1, "stat": 3, "rename": 1, "delete": 1, "list": 1}


@pytest.fixture(autouse=True)
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of some groups, so that pruning has something to remove."""
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 4000)


class Group:
    """A group under load, with live invariants."""

    def __init__(self, seed: int, **settings: Any):
        config = one_group(**({"image_every": 200, "image_gap": 600} | settings))
        self.cluster = SimCluster(config, seed, WorkloadConfig(clients=8, rate_per_s=300, mix=MIX))
        self.invariants = registry.start(config)
        self.cluster.on_event(self.invariants.on_event)
        self.cluster.run_until(self.cluster.settled)

    def of(self, letter: str) -> list[str]:
        return [name for name, each in self.cluster.view().items() if each == letter]

    def reported(self, kind: type, server: str = "") -> list[Any]:
        return [s.event for s in self.cluster.events if type(s.event) is kind and server in ("", s.server)]

    def finish(self) -> None:
        self.cluster.run_until(self.cluster.settled, 120 * SECOND)
        self.cluster.run_for(2 * SECOND)
        self.invariants.finish()
        assert self.invariants.failures == []


def test_images_come_regularly_and_journals_below_them_go() -> None:
    group = Group(1)
    group.cluster.run_for(8 * SECOND)
    written = group.reported(ImageWritten)
    assert len(written) >= 5 and all(len(each.holders) == 4 for each in written)
    steps = [b.sn - a.sn for a, b in pairwise(written)]
    assert all(200 <= step <= 320 for step in steps)
    for name in group.cluster.servers:
        if group.cluster.servers[name].group:
            pruned = group.reported(JournalPruned, name)
            assert pruned and written[-3].sn - 100 < pruned[-1].first_sn <= written[-1].sn + 1
    group.finish()


def test_a_server_restarts_from_its_image_and_the_rest_of_its_journal() -> None:
    group = Group(2)
    group.cluster.run_for(6 * SECOND)
    for name in group.of("S")[:2]:
        group.cluster.faults.power_loss(name)
        group.cluster.faults.restart(name)
        group.cluster.run_for(SECOND // 10)
        opened = group.reported(JournalOpened, name)[-1]
        assert opened.image_sn > 0 and 1 < opened.first_sn <= opened.image_sn + 1 <= opened.last_sn + 1
    group.cluster.run_for(SECOND)
    group.finish()


def test_a_whole_group_restarts_from_its_images() -> None:
    lab = Lab(3, image_every=10)
    for number in range(60):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.run_ms(1_000)
    for name in lab.cluster.servers:
        if lab.cluster.servers[name].group:
            lab.faults.power_loss(name)
    lab.run_ms(1_000)
    lab.mend()
    for number in range(60):
        lab.eve.call(Stat(f"/d{number}"))
    lab.finish()
    assert lab.broken() == {}
    assert any(s.event.image_sn for s in lab.cluster.events if type(s.event) is JournalOpened)


def test_a_junior_waits_for_one_image_though_more_is_written_meanwhile_than_it_may_lie_behind() -> None:
    group = Group(5, image_every=5, image_gap=1)
    away = group.of("S")[0]
    group.cluster.faults.crash(away)
    group.cluster.run_for(6 * SECOND)
    group.cluster.faults.restart(away)
    group.cluster.run_until(lambda: away in group.of("S"), 10 * SECOND)
    group.finish()


def test_a_damaged_image_is_passed_over_for_the_one_before() -> None:
    group = Group(4)
    group.cluster.run_for(6 * SECOND)
    victim = group.of("S")[0]
    group.cluster.faults.crash(victim)
    files = group.cluster.servers[victim].store.files
    newest = max(path for path in files if path.endswith(".p03"))
    files[newest].data[-20] ^= 1
    group.cluster.faults.restart(victim)
    group.cluster.run_for(SECOND // 10)
    assert newest.removeprefix("image/").startswith(group.reported(ImageRefused, victim)[0].image)
    assert not group.reported(Stopped, victim) and not group.reported(Warned, victim)
    assert 0 < group.reported(JournalOpened, victim)[-1].image_sn < rank_of(newest[6:-4])[2]
    group.cluster.run_for(SECOND)
    assert newest not in files and f"aside/images/{newest[6:]}" in files, "it is kept for a person"
    group.finish()


def test_an_image_of_another_version_is_not_touched() -> None:
    group = Group(14)
    group.cluster.run_for(6 * SECOND)
    victim = group.of("S")[0]
    group.cluster.faults.crash(victim)
    files = group.cluster.servers[victim].store.files
    newest = max(path for path in files if path.endswith(".manifest"))
    files[newest].data[8:10] = stored(9).to_bytes(2, "little")
    before = {path: bytes(file.data) for path, file in files.items()}
    group.cluster.faults.restart(victim)
    group.cluster.run_for(SECOND)
    assert "format 9; this version reads format 1" in group.reported(Stopped, victim)[-1].reason
    assert {path: bytes(file.data) for path, file in files.items()} == before
    group.invariants.finish()
    assert group.invariants.failures == []


def test_a_junior_whose_journal_was_pruned_away_reads_the_image() -> None:
    group = Group(5, image_gap=100_000)
    standby = group.of("S")[0]
    group.cluster.faults.crash(standby)
    group.cluster.run_for(8 * SECOND)
    assert group.reported(JournalPruned)
    group.cluster.faults.restart(standby)
    group.cluster.run_until(lambda: group.cluster.view()[standby] == "S", 60 * SECOND)
    phases = [event.phase for event in group.reported(Renewing, standby)]
    assert phases[0] == "image" and phases[-1] == "done"
    group.finish()


def test_a_known_junior_keeps_its_journal() -> None:
    """No group is pruned that a junior still needs, while it continues from its journal."""
    group = Group(6, image_gap=100_000, image_every=3000)
    standby = group.of("S")[0]
    group.cluster.run_for(3 * SECOND)
    group.cluster.faults.crash(standby)
    group.cluster.run_for(8 * SECOND)
    held = group.cluster.hold(lambda sender, receiver, message: type(message) is Renew)
    group.cluster.faults.restart(standby)
    group.cluster.run_for(10 * SECOND)
    end = group.reported(JournalOpened, standby)[-1].last_sn
    assert group.reported(ImageWritten) and held.messages and group.cluster.view()[standby] == "J"
    assert all(event.first_sn <= end + 1 for event in group.reported(JournalPruned))
    held.drop()
    group.cluster.run_until(lambda: group.cluster.view()[standby] == "S", 60 * SECOND)
    assert "image" not in [event.phase for event in group.reported(Renewing, standby)]
    group.cluster.run_for(7 * SECOND)
    assert any(event.first_sn > end + 1 for event in group.reported(JournalPruned))
    group.finish()


def test_a_junior_that_restarts_within_the_image_goes_on_where_it_was() -> None:
    group = Group(7, image_gap=300, image_every=100_000, image_partitions=2)
    junior = group.of("S")[0]
    group.cluster.faults.crash(junior)
    group.cluster.run_for(12 * SECOND)
    group.cluster.faults.restart(junior)
    held = group.cluster.hold(
        lambda sender, receiver, message: type(message) is FilePiece and message.file.endswith(".p01")
    )
    group.cluster.run_until(
        lambda: any(e.file.endswith(".p00") for e in group.reported(Repairing, junior)), 60 * SECOND
    )
    group.cluster.faults.crash(junior)
    held.drop()
    group.cluster.run_for(SECOND)
    group.cluster.faults.restart(junior)
    reported = len(group.reported(Repairing, junior))
    group.cluster.run_until(lambda: group.cluster.view()[junior] == "S", 60 * SECOND)
    again = group.reported(Repairing, junior)[reported:]
    assert not any(e.file.endswith(".p00") and e.began == 0 for e in again), (
        "what was there is not read again"
    )
    group.finish()


def test_a_standby_that_takes_an_image_is_elected_and_has_everything() -> None:
    group = Group(8)
    held = group.cluster.hold(lambda sender, receiver, message: type(message) is ImagePacket)
    group.cluster.run_until(lambda: bool(held.messages), 60 * SECOND)
    writer = held.messages[0][0]
    for name in [*group.of("A"), *group.of("S")]:
        if name != writer:
            group.cluster.faults.pause(name)
    group.cluster.run_for(SECOND)
    for name in group.of("S"):
        if name != writer:
            group.cluster.faults.resume(name)
    group.cluster.run_until(
        lambda: group.cluster.view()[writer] == "A" or len(group.of("A")) == 1, 60 * SECOND
    )
    for name, server in group.cluster.servers.items():
        if server.process == "paused":
            group.cluster.faults.resume(name)
    held.drop()
    group.finish()


def test_the_journal_goes_on_while_the_namespace_stands_still() -> None:
    """A write is answered while every standby that could acknowledge it takes an image."""
    lab = Lab(9, standbys=2, image_every=5)
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is ImagePacket)
    for number in range(30):
        lab.ada.call(Mkdir(f"/d{number}"), SECOND)
    held.drop()
    lab.finish()
    assert lab.broken() == {}


def test_an_order_that_is_lost_is_given_again() -> None:
    lab = Lab(10, image_every=5)
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is TakeImage)
    for number in range(6):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.run_ms(1_000)
    assert held.messages
    held.drop()
    lab.cluster.run_until(lambda: any(type(s.event) is ImageWritten for s in lab.cluster.events), 60 * SECOND)
    lab.finish()


def steps(lab: Lab, procedure: str, step: str) -> list[str]:
    """Events of a procedure's step, in order."""
    reported = [s.event for s in lab.cluster.events if type(s.event) is StepTaken]
    return [event.detail for event in reported if (event.procedure, event.step) == (procedure, step)]


def begin_image(lab: Lab) -> tuple[HeldMessages, str]:
    """An image whose packets all stay at its writer."""
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is ImagePacket)
    for number in range(6):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.cluster.run_until(lambda: bool(held.messages), 60 * SECOND)
    return held, held.messages[0][0]


def test_who_falls_out_of_step_while_it_takes_an_image_goes_on_with_it() -> None:
    """With all processors busy its acknowledgements are late; another image from the start would make everything later still."""
    lab = Lab(15, image_every=5)
    packets, writer = begin_image(lab)
    journals = lab.hold_journals(writer)
    for number in range(6, 9):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.run_ms(1_000)
    assert any(detail.startswith(f"{writer} has not acknowledged") for detail in steps(lab, "shrink", "ACK"))
    journals.drop()
    packets.release()
    lab.cluster.run_until(lambda: bool(steps(lab, "image", "taken")), 60 * SECOND)
    assert len(steps(lab, "image", "order")) == 1
    assert writer in steps(lab, "image", "taken")[0]
    lab.finish()
    assert lab.broken() == {}


def test_who_is_gone_takes_no_image_and_another_one_does() -> None:
    lab = Lab(16, image_every=5)
    packets, writer = begin_image(lab)
    lab.faults.crash(writer)
    packets.drop()
    lab.cluster.run_until(lambda: bool(steps(lab, "image", "taken")), 10 * SECOND)
    assert writer not in steps(lab, "image", "taken")[0]
    lab.finish()
    assert lab.broken() == {}


def test_an_order_that_is_given_again_when_the_image_is_there_takes_no_other() -> None:
    lab = Lab(18, image_every=5)
    taken = lab.cluster.hold(lambda sender, receiver, message: type(message) is ImageTaken)
    for number in range(6):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.cluster.run_until(lambda: len(taken.messages) >= 3, 60 * SECOND)
    assert sum(type(s.event) is ImageWritten for s in lab.cluster.events) == 1
    taken.drop()
    lab.cluster.run_until(lambda: bool(steps(lab, "image", "taken")), 60 * SECOND)
    lab.finish()
    assert lab.broken() == {}


def test_an_image_that_was_given_up_counts_when_it_comes_after_all() -> None:
    lab = Lab(17, image_every=5)
    silence = lab.cluster.hold(lambda sender, receiver, message: type(message) is ImageGoesOn)
    packets, _ = begin_image(lab)
    orders = lab.cluster.hold(lambda sender, receiver, message: type(message) is TakeImage)
    lab.cluster.run_until(lambda: len(steps(lab, "image", "order")) == 2, 60 * SECOND)
    packets.drop()
    lab.cluster.run_until(lambda: bool(steps(lab, "image", "taken")), 60 * SECOND)
    assert len(steps(lab, "image", "order")) == 2
    orders.drop()
    silence.drop()
    lab.finish()
    assert lab.broken() == {}


def test_a_node_that_does_not_report_keeps_no_image_waiting() -> None:
    """The active asks for reports before it prunes, and a dead node answers none of them; the next image is due long before its timeout."""
    lab = Lab(19, image_every=5)
    reports = lab.cluster.hold(lambda sender, receiver, message: type(message) is FileReport)
    for number in range(50):
        lab.ada.call(Mkdir(f"/d{number}"))
        lab.run_ms(300)
    assert reports.messages and len(steps(lab, "image", "taken")) >= 4
    reports.drop()
    lab.finish()
    assert lab.broken() == {}


def test_journals_go_also_when_an_image_is_always_due() -> None:
    lab = Lab(20, image_every=1)
    for number in range(150):
        lab.ada.call(Mkdir(f"/d{number}"))
        lab.run_ms(60)
    pruned = [s for s in lab.cluster.events if type(s.event) is JournalPruned]
    assert len(pruned) >= 4 * len(lab.cluster.view())
    lab.finish()
    assert lab.broken() == {}


def test_no_image_is_taken_when_none_is_wanted() -> None:
    group = Group(11, image_every=0)
    group.cluster.run_for(4 * SECOND)
    assert group.reported(ImageShelved) == [] and group.reported(JournalPruned) == []


def test_the_baseline_serves_the_same() -> None:
    group = Group(12, image_store="hdfs_pipeline")
    group.cluster.run_for(4 * SECOND)
    assert len(group.reported(ImageWritten)) >= 2
    group.finish()
