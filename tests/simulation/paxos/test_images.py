"""Secondaries take images, logs below them are pruned, and a server that lacks pruned slots starts from an image: joining, restarted, or
elected."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND, one_group
from nodes.metadata.operations import Mkdir, Stat
from nodes.metadata_server.messages import Prune
from nodes.protocols.paxos.messages import Accept, LogBegins, PaxosPromise, Success
from nodes.storage import journal_file
from nodes.trace.events import JournalOpened, Renewing, StepTaken
from nodes.trace.pool_events import ImageWritten, JournalPruned
from nodes.wire.messages import Message
from tests.simulation.at_work import AtWork
from tests.simulation.paxos.lab import Lab

every_family = pytest.mark.parametrize("protocol", ["packed-paxos", "multi-paxos"])


@pytest.fixture(autouse=True)
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of some slots, so that pruning has something to remove."""
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 2_000)


class Group(AtWork):
    def __init__(self, protocol: str = "packed-paxos", seed: int = 1, secondaries: int = 2, **settings: Any):
        config = one_group(secondaries, protocol=protocol, **({"image_every": 60} | settings))
        super().__init__(config, seed, rate_per_s=60)


@every_family
def test_a_secondary_takes_images_and_logs_below_them_go(protocol: str) -> None:
    group = Group(protocol)
    group.cluster.run_for(12 * SECOND)
    secondary, primary = group.of("S"), group.of("P")
    assert len(group.reported(ImageWritten, secondary)) > 2
    assert group.reported(JournalPruned, primary) and group.reported(JournalPruned, secondary)
    group.finish()


@every_family
def test_a_member_starts_from_its_image_and_the_log_behind_it(protocol: str) -> None:
    group = Group(protocol)
    group.cluster.run_for(10 * SECOND)
    for name in (group.of("S"), group.of("P")):
        group.cluster.faults.do("power_loss", [name])
        group.cluster.run_for(SECOND // 2)
        group.cluster.faults.restart(name)
        group.cluster.run_for(8 * SECOND)
        opened = group.reported(JournalOpened, name)[-1]
        assert 0 < opened.image_sn <= opened.last_sn
    group.finish()


@every_family
def test_who_joins_without_what_is_pruned_reads_an_image(protocol: str) -> None:
    group = Group(protocol)
    group.cluster.run_for(10 * SECOND)
    secondary = group.of("S")
    group.cluster.faults.do("new_disk", [secondary])
    group.cluster.faults.restart(secondary)
    group.cluster.run_for(5 * SECOND)
    assert group.reported(Renewing, secondary)
    assert group.cluster.view()[secondary] == "S"
    group.crash_and_restart(group.of("P"))
    group.finish()


def test_a_server_that_is_added_reads_an_image() -> None:
    group = Group()
    group.cluster.run_for(10 * SECOND)
    group.cluster.faults.add_server("g1")
    group.cluster.run_until(lambda: group.cluster.view().get("mds4") == "S", 30 * SECOND)
    assert group.reported(Renewing, "mds4")
    group.finish()


class Behind:
    """One of three was down while the others continued without it and pruned the slots that it lacks; images every 20 slots."""

    def __init__(self, seed: int = 1):
        self.lab = Lab(seed, image_every=20)
        self.lab.ada.call(Mkdir("/a"))
        self.lab.eve.call(Stat("/a"))
        self.primary = self.lab.primary
        self.away, self.other = self.lab.secondaries
        self.lab.faults.crash(self.away)
        self.lab.run_ms(8_000)
        for number in range(160):
            self.lab.ada.call(Mkdir(f"/d{number}"))
            if number % 40 == 39:
                self.lab.run_ms(3_000)
        assert all(self._pruned(name) for name in (self.primary, self.other))

    def _pruned(self, name: str) -> bool:
        return any(s.server == name for s in self.lab.reported(JournalPruned))

    def finish(self) -> None:
        self.lab.finish()
        assert self.lab.broken() == {}
        assert [task.exception() for task in self.lab.tasks] == [None] * len(self.lab.tasks)


def test_the_elected_reads_an_image_of_what_the_others_have_pruned() -> None:
    """Only this server may draw: servers with more slots are kept from the lock, and promise."""
    behind = Behind()
    lab, away = behind.lab, behind.away
    for name in (behind.primary, behind.other):
        lab.faults.crash(name)
    lab.faults.restart(away)
    lab.cluster.run_until(lambda: lab.cluster.ensemble.observer.holders.get("g1") == away)
    lab.faults.restart(behind.other)
    lab.await_next_primary()
    assert lab.primary == away and lab.reported(Renewing)[0].server == away
    lab.eve.call(Stat("/a"))
    lab.faults.restart(behind.primary)
    behind.finish()


@pytest.mark.parametrize("verb", ["crash", "power_loss"])
def test_an_image_that_is_being_read_when_its_reader_dies_is_read_again(verb: str) -> None:
    for at_us in range(0, 12_000, 1_500):
        behind = Behind(seed=at_us)
        lab = behind.lab
        begins: list[str] = []

        def listens(sender: str, receiver: str, message: Message, begins: list[str] = begins) -> bool:
            if type(message) is LogBegins:
                begins.append(receiver)
            return False

        lab.cluster.hold(listens)
        lab.faults.restart(behind.away)
        lab.cluster.run_until(lambda begins=begins: bool(begins), 30 * SECOND)  # type: ignore[misc]
        lab.cluster.run_for(at_us * 1_000)
        getattr(lab.faults, verb)(behind.away)
        lab.run_ms(200)
        lab.faults.restart(behind.away)
        lab.await_letter(behind.away, "S")
        lab.eve.call(Stat("/a"))
        behind.finish()


def test_two_members_that_are_pruned_differently_go_on_without_the_third() -> None:
    """One server lost the orders to prune: its log reaches further back, and either may be elected."""
    for dies in (0, 1):
        lab = Lab(3 + dies, image_every=20)
        lab.ada.call(Mkdir("/a"))
        primary, secondaries = lab.primary, lab.secondaries
        deaf = secondaries[dies]
        held = lab.cluster.hold(
            lambda sender, receiver, message, deaf=deaf: type(message) is Prune and receiver == deaf
        )
        for number in range(120):
            lab.ada.call(Mkdir(f"/d{number}"))
        lab.run_ms(3_000)
        assert not any(s.server == deaf for s in lab.reported(JournalPruned))
        held.drop()
        lab.faults.crash(primary)
        lab.await_next_primary()
        lab.eve.call(Stat("/d119"))
        lab.finish()
        assert lab.broken() == {}


def test_accepted_slots_above_an_image_that_is_read_are_reported_in_phase_one() -> None:
    """The reader of an image has accepted, and acknowledged, a slot above it. The primary dies, and its successor continues the slot."""
    behind = Behind()
    lab = behind.lab
    lab.faults.restart(behind.away)
    lab.await_letter(behind.away, "S")
    decisions = lab.cluster.hold(
        lambda sender, receiver, message: type(message) is Success and receiver == behind.away
    )
    late = lab.cluster.hold(
        lambda sender, receiver, message: type(message) is Accept and receiver == behind.other
    )
    task = lab.begin(lab.ada, Mkdir("/open"))
    lab.run_ms(50)
    lab.faults.crash(behind.primary)
    for held in (decisions, late):
        held.drop()
    lab.faults.power_loss(behind.away)
    lab.faults.restart(behind.away)
    lab.await_next_primary()
    redone = [s.event.detail for s in lab.reported(StepTaken) if s.event.step == "2"][-1]
    assert "1 accept" in redone, redone
    lab.cluster.run_until(task.done, 10 * SECOND)
    lab.eve.call(Stat("/open"))
    behind.finish()


@pytest.mark.parametrize("image", ["newest", "all"])
def test_images_that_rot_on_one_member_lose_nothing(image: str) -> None:
    """The log continues from the older image. A member without any image starts empty and counts once it is renewed."""
    group = Group(image_every=50)
    group.cluster.run_for(10 * SECOND)
    secondary = group.of("S")
    group.cluster.faults.do("crash", [secondary])
    group.cluster.faults.corrupt(secondary, "image")
    if image == "all":
        files = group.cluster.servers[secondary].store.files
        for path in [path for path in files if path.startswith("image/")]:
            files[path].data[:] = b"rot" * (len(files[path].data) // 3)
    group.cluster.faults.restart(secondary)
    group.cluster.run_for(6 * SECOND)
    assert group.cluster.view()[secondary] == "S"
    group.crash_and_restart(group.of("P"))
    group.finish()


def test_a_promise_that_is_lost_does_not_hide_what_was_pruned() -> None:
    """The elected server lacks pruned slots, and learns of it only when the lost promise is sent again."""
    behind = Behind()
    lab, away = behind.lab, behind.away
    for name in (behind.primary, behind.other):
        lab.faults.crash(name)
    lost = lab.cluster.hold(lambda sender, receiver, message: type(message) is PaxosPromise)
    lab.faults.restart(away)
    lab.cluster.run_until(lambda: lab.cluster.ensemble.observer.holders.get("g1") == away)
    lab.faults.restart(behind.other)
    lab.run_ms(300)
    lost.drop()
    lab.cluster.run_until(lambda: bool(lab.reported(Renewing)), 60 * SECOND)
    lab.faults.restart(behind.primary)
    lab.cluster.run_until(lab.cluster.settled, 60 * SECOND)
    lab.eve.call(Stat("/a"))
    behind.finish()


def test_who_takes_an_image_answers_no_read_from_what_stands_still() -> None:
    """Under load with an image always due, reads at secondaries stay linearisable."""
    group = Group(image_every=2, image_partitions=8)
    group.cluster.run_for(10 * SECOND)
    assert len(group.reported(ImageWritten)) > 10
    group.finish()
