"""The log of DCFS2 §4.3: of a fixed size, written back periodically, by force and by protocol; a full log delays writes and loses none."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from nodes.config import MILLISECOND, SECOND, Holes
from nodes.metadata.operations import Mkdir, Operation, SetPermission, Stat
from nodes.metadata.pages import Counters
from nodes.metadata_server.messages import TakeImage
from nodes.metadata_server.snapshots import Imaging
from nodes.protocols.dcfs2.messages import CommitReq, OpReq
from nodes.storage import journal_file
from nodes.trace.events import StepTaken, WritesWait
from nodes.trace.pool_events import JournalPruned
from nodes.trace.prose import is_story
from nodes.wire.messages import Message
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.dcfs2.schedules import home

LOG = 20_000


@pytest.fixture(autouse=True)
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of some groups, so that pruning has something to remove."""
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 4000)


def counted(lab: Groups, group: int = 1) -> Counters:
    reported: Any = lab.cluster.ask(lab.active(group), {"do": "counters"})["counters"]
    return msgspec.convert(reported, Counters)


def waits(lab: Groups) -> list[WritesWait]:
    return [each.event for each in lab.cluster.events if isinstance(each.event, WritesWait)]


def steps(lab: Groups, step: str) -> list[str]:
    events = [s.event for s in lab.cluster.events if type(s.event) is StepTaken]
    return [event.detail for event in events if (event.procedure, event.step) == ("image", step)]


def work(lab: Groups, name: str, count: int) -> None:
    for number in range(count):
        lab.ada.call(Mkdir(f"/{name}{number}"))


def begin(lab: Groups, *operations: Operation) -> None:
    lab.calls += [lab.ada.spawn(operation) for operation in operations]


def fill(lab: Groups) -> None:
    """Fills the log until writes wait, because no server takes an image."""
    for number in range(600):
        begin(lab, Mkdir(f"/fill{number}"))
        lab.cluster.run_for(SECOND // 100)
        if steps(lab, "full"):
            return
    raise AssertionError("the log never filled up")


# --- the three events ------------------------------------------------------------------------------------------------


def test_periodic() -> None:
    lab = Groups(1, 1, 2, image_every=30)
    for name in ("a", "b"):
        work(lab, name, 40)
        lab.cluster.run_for(2 * SECOND)
    reported = counted(lab)
    assert reported.periodic >= 2 and reported.forced == 0 and not reported.log_full
    lab.finish()


def test_forced_when_it_is_half_full_and_then_pruned() -> None:
    """No other trigger asks for an image."""
    lab = Groups(2, 1, 2, image_every=0, log_bytes=LOG)
    for part in range(4):
        work(lab, f"part{part}-", 60)
        lab.cluster.run_for(7 * SECOND)
        assert counted(lab).log_bytes < LOG // 2
    reported = counted(lab)
    assert reported.periodic == 0 and reported.forced >= 2 and not steps(lab, "full")
    assert any(type(s.event) is JournalPruned for s in lab.cluster.events)
    lab.finish()


@pytest.mark.parametrize("cross_group", ["s2pc_mp", "two_phase"])
def test_protocol(cross_group: str) -> None:
    """Four records of an operation by S2PC-MP, five by two-phase commit, all durable before any answer."""
    lab = Groups(3, 2, 1, placement="random", cross_group=cross_group)
    work(lab, "a", 8)
    lab.cluster.run_until(lab.quiet, 10 * SECOND)
    lab.cluster.run_for(SECOND)
    reported = [counted(lab, group) for group in (1, 2)]
    assert (
        sum(each.protocol for each in reported)
        == (4 if cross_group == "s2pc_mp" else 5) * reported[0].done
        > 0
    )
    lab.finish()


def test_with_async_flush_a_distributed_operation_alone_waits_for_the_disk() -> None:
    """DCFS2 §4.3.2: its records are written synchronously, those of other operations later."""
    lab = Groups(2, 2, 1, placement="random", cross_group="s2pc_mp", holes=Holes(async_flush=True))
    lab.ada.call(Mkdir("/first"))
    for name in lab.cluster.view():
        lab.cluster.faults.slow_disk(name, 300)
    sent: list[int] = []

    def note(sender: str, receiver: str, message: Message) -> None:
        if isinstance(message, OpReq | CommitReq):
            sent.append(lab.cluster.now_ns)

    lab.cluster.net.on_sent.subscribe(note)
    ordinary = 0
    for number in range(12):
        lab.cluster.run_for(2 * SECOND)
        sent.clear()
        began_ns = lab.cluster.now_ns
        lab.ada.call(Mkdir(f"/a{number}"))
        if sent:
            assert all(at_ns - began_ns >= 300 * MILLISECOND for at_ns in sent)
        else:
            ordinary += 1
            assert lab.cluster.now_ns - began_ns < 100 * MILLISECOND
    assert 0 < ordinary < 12
    lab.finish()


# --- pruning with undecided operations -------------------------------------------------------------------------------


def test_an_undecided_operation_outlives_the_pruning_of_its_records() -> None:
    """Its peer is down while the log is written back and pruned, and the coordinator's group restarts from image and journal."""
    lab = Groups(4, 2, 2, placement="random", image_every=0, log_bytes=LOG)
    work(lab, "a", 2)
    here = next(path for path in ("/a0", "/a1") if home(lab, path) == 1)
    for name in lab.servers(2):
        lab.cluster.faults.crash(name)
    begin(lab, *(Mkdir(f"/open{number}") for number in range(2)))
    lab.cluster.run_for(SECOND)
    assert counted(lab).open >= 1
    for number in range(280):
        begin(lab, SetPermission(here, number))
    lab.cluster.run_for(8 * SECOND)
    assert counted(lab).forced >= 1 and counted(lab).open >= 1
    for name in lab.servers(1):
        lab.cluster.faults.power_loss(name)
    for name in lab.servers(1):
        lab.cluster.faults.restart(name)
    lab.finish()
    lab.all_returned()
    assert lab.ada.call(Stat("/open0")) and lab.ada.call(Stat("/open1"))


# --- full log --------------------------------------------------------------------------------------------------------


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The active waits for its standbys without limit; otherwise it takes the image itself after one unanswered order."""
    monkeypatch.setattr(Imaging, "_others_can", lambda self: bool(self._takers.standbys()))


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("failover", [False, True])
def test_a_full_log_makes_writes_wait_and_reads_go_on(failover: bool) -> None:
    lab = Groups(5, 1, 2, image_every=0, log_bytes=LOG)
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is TakeImage)
    fill(lab)
    (full,) = waits(lab)
    assert steps(lab, "full") and full.waits and full.size >= full.limit == LOG and is_story(full)
    begin(lab, Mkdir("/late"))
    lab.cluster.run_for(3 * SECOND)
    assert not lab.calls[-1].done() and counted(lab).log_full
    assert counted(lab).log_bytes < 2 * LOG
    lab.eve.call(Stat("/fill0"))
    if failover:
        lab.cluster.faults.crash(lab.active(1))
        lab.cluster.run_for(12 * SECOND)
        assert not lab.calls[-1].done()
    held.drop()
    lab.cluster.run_until(lab.calls[-1].done, 60 * SECOND)
    assert steps(lab, "room") and not waits(lab)[-1].waits
    lab.finish()
    lab.all_returned()
    lab.eve.call(Stat("/late"))


@pytest.mark.usefixtures("patient")
def test_a_participant_whose_log_is_full_promises_nothing_new() -> None:
    lab = Groups(6, 2, 2, placement="random", image_every=0, log_bytes=LOG)
    lab.ada.call(Mkdir("/before"))
    everybody = lab.servers(2)
    held = lab.cluster.hold(
        lambda sender, receiver, message: type(message) is TakeImage and receiver in everybody
    )
    for number in range(900):
        begin(lab, Mkdir(f"/fill{number}"))
        lab.cluster.run_for(SECOND // 200)
        if counted(lab, 2).log_full:
            break
    size = counted(lab, 2).log_bytes
    assert size >= LOG
    begin(lab, *(Mkdir(f"/late{number}") for number in range(6)))
    lab.cluster.run_for(5 * SECOND)
    assert counted(lab, 2).log_bytes < size + 4_000
    assert not all(call.done() for call in lab.calls[-6:])
    held.drop()
    lab.finish()
    lab.all_returned()


@pytest.mark.parametrize("groups", [1, 2])
def test_an_active_without_standbys_takes_the_image_itself(groups: int) -> None:
    lab = Groups(7, groups, 0, placement="random", image_every=0, log_bytes=LOG)
    for part in range(3):
        begin(lab, *(Mkdir(f"/part{part}-{number}") for number in range(80)))
        lab.cluster.run_for(2 * SECOND)
    assert all(call.done() for call in lab.calls)
    assert counted(lab).forced >= 1 and steps(lab, "alone")
    for name in lab.servers(1):
        lab.cluster.faults.power_loss(name)
    lab.finish()
    lab.all_returned()
    lab.eve.call(Stat("/part0-0"))


def test_a_full_log_waits_for_one_silent_standby_only() -> None:
    lab = Groups(5, 1, 2, image_every=0, log_bytes=LOG)
    lab.cluster.hold(lambda sender, receiver, message: type(message) is TakeImage)
    fill(lab)
    begin(lab, Mkdir("/late"))
    lab.cluster.run_until(lab.calls[-1].done, 20 * SECOND)
    assert steps(lab, "alone")
