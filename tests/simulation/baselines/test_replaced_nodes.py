"""Journal nodes with new disks, and with journals that they begin anew: what they are counted for, and what they answer, is what they have."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from nodes.config import MILLISECOND, SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.storage import journal_file
from nodes.trace.events import Applied, Committed, Renewing
from nodes.wire.journal_messages import (
    AcceptJournal,
    FinishSegment,
    JournalWritten,
    NewEpoch,
    StartSegment,
    WriteJournal,
)
from nodes.wire.messages import Message
from tests.simulation.baselines.lab import lab_of
from tests.simulation.mams.lab import Lab

every_family = pytest.mark.parametrize("protocol", ["qjm", "hadoop-ha"])
FIRST, REPLACED, LOST = "jn1", "jn2", "jn3"


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 1000)
    yield


def writes(lab: Lab, name: str, count: int, ms: int = 30) -> None:
    for number in range(count):
        lab.ada.call(Mkdir(f"/{name}{number}"), 60 * SECOND)
        lab.run_ms(ms)


def recorded(lab: Lab, name: str = REPLACED) -> int:
    """The disk of the replaced node that takeovers count on."""
    node = lab.cluster.ensemble.tree.nodes["/cloverlab/groups/g1/configuration"]
    return int(msgspec.json.decode(node.data)["disks"][name])


def replace(lab: Lab) -> None:
    lab.faults.new_disk(REPLACED)
    lab.faults.restart(REPLACED)


def await_record(lab: Lab, old: int) -> None:
    """Waits until another disk is recorded, which a segment's beginning brings about at the latest."""
    lab.cluster.run_until(lambda: recorded(lab) != old, 40 * SECOND)


def is_taken_over(lab: Lab, path: str) -> None:
    """The group is taken over with the first and the replaced node."""
    lab.faults.gone(LOST)
    lab.faults.crash(lab.active)
    lab.await_next_active()
    assert lab.eve.call(Stat(path), 30 * SECOND).error == ""
    lab.finish()
    assert lab.broken() == {}


@every_family
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("first_lost", [False, True])
def test_a_new_disk_is_recorded_while_nobody_writes(seed: int, protocol: str, first_lost: bool) -> None:
    lab = lab_of(protocol, seed, standbys=2)
    writes(lab, "a", 5)
    lab.run_ms(5_000)
    old = recorded(lab)
    lost: list[Message] = []

    def is_lost(sender: str, receiver: str, message: Message) -> bool:
        if not first_lost or lost or sender != REPLACED or type(message) is not JournalWritten:
            return False
        lost.append(message)
        return True

    lab.cluster.hold(is_lost)
    replace(lab)
    if first_lost:
        lab.cluster.run_until(lambda: bool(lost), 60 * SECOND)
    await_record(lab, old)
    is_taken_over(lab, "/a0")


@every_family
@pytest.mark.parametrize("kept", ["held", "copied"])
def test_what_a_replaced_disk_acknowledged_late_does_not_put_it_on_record_again(
    kept: str, protocol: str
) -> None:
    """The first group of a segment is acknowledged by the replaced disk, by the new one, and, late, by the replaced one."""
    lab = lab_of(protocol, 1, standbys=2)
    writes(lab, "a", 3)
    lab.run_ms(32_000)
    late: list[tuple[str, str, Message]] = []

    def acknowledged_late(sender: str, receiver: str, message: Message) -> bool:
        if sender != REPLACED or late or not isinstance(message, JournalWritten):
            return False
        late.append((sender, receiver, message))
        return kept == "held"

    def acknowledges(sender: str, receiver: str, message: Message) -> bool:
        return sender == LOST and isinstance(message, JournalWritten)

    lab.cluster.hold(acknowledged_late)
    slow = lab.cluster.hold(acknowledges)
    writing = lab.begin(lab.ada, Mkdir("/first"))
    lab.cluster.run_until(lambda: bool(late), 1 * SECOND)
    old = recorded(lab)
    replace(lab)
    lab.cluster.run_until(writing.done, 10 * SECOND)
    slow.release()
    await_record(lab, old)
    lab.run_ms(100)
    lab.deliver(late[0])
    lab.run_ms(5_000)
    assert recorded(lab) != old
    is_taken_over(lab, "/first")


def forked(lab: Lab) -> tuple[str, str, int]:
    """The last journal node and one standby know a group that no other has, and are cut off from the others, which commit another one with that
    sn. Returns the standby, the writer, and the sn."""
    old, (other, standby) = lab.active, lab.standbys
    lost = lab.cluster.hold(
        lambda sender, receiver, message: (
            sender == old and receiver in (FIRST, REPLACED) and isinstance(message, WriteJournal)
        )
    )
    lab.begin(lab.ada, Mkdir("/fork"))
    lab.cluster.run_until(lambda: bool(lost.messages), 1 * SECOND)
    sn = lost.messages[0][2].previous.sn + 1  # type: ignore[attr-defined]
    lab.run_ms(100)
    lab.faults.crash(old)
    for name in (FIRST, REPLACED, old, other):
        lab.faults.cut(LOST, name)
    lost.drop()
    lab.run_ms(1_500)
    for name in (FIRST, REPLACED):
        lab.faults.cut(standby, name)
    lab.await_next_active()
    lab.faults.restart(old)
    return standby, lab.active, sn


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(("protocol", "slow_ms"), [("qjm", 800), ("hadoop-ha", 400)])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_journal_that_begins_anew_is_not_read_from(seed: int, protocol: str, slow_ms: int) -> None:
    """The node that has the group of no other journal begins behind what the others have pruned, on a slow disk."""
    lab = lab_of(protocol, seed, standbys=2, image_every=40)
    writes(lab, "a", 10)
    lab.run_ms(4_000)
    standby, writer, sn = forked(lab)
    writes(lab, "b", 150)
    for name in ("c", "d"):
        lab.run_ms(40_000)
        writes(lab, name, 60)
    lab.run_ms(35_000)
    assert lab.active == writer
    lab.cluster.servers[LOST].store.slow_ns = slow_ms * MILLISECOND
    for name in (FIRST, REPLACED, *lab.cluster.view()):
        if name != standby:
            lab.faults.heal(LOST, name)
    writes(lab, "e", 30, 100)
    lab.run_ms(35_000)
    events = [(each.server, each.event) for each in lab.cluster.events]
    assert any(server == standby and type(event) is Renewing for server, event in events)
    committed = {event.epoch for _, event in events if type(event) is Committed and event.sn == sn}
    applied = {
        event.epoch
        for server, event in events
        if server == standby and type(event) is Applied and event.sn == sn
    }
    assert len(committed) == 1 and applied <= committed
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", [1, 2])
def test_a_new_disk_that_has_forgotten_a_promise_decides_no_end(seed: int) -> None:
    """Only the second node has a group. One server recovers it and loses the lock, unknown to itself. The next server has the promises of the
    first and the last node, which have no such group, when the last node loses its disk; the new one accepts what the earlier server decided.
    """
    lab = lab_of("qjm", seed, standbys=3)
    writes(lab, "a", 3, 100)
    hold, first = lab.cluster.hold, lab.active
    lost = hold(lambda s, r, x: s == first and r in (FIRST, LOST) and isinstance(x, WriteJournal))
    lab.begin(lab.ada, Mkdir("/fork"))
    lab.cluster.run_until(lambda: bool(lost.messages), 1 * SECOND)
    lab.run_ms(60)
    lab.faults.crash(first)
    lost.drop()
    kinds = (NewEpoch, AcceptJournal, FinishSegment, StartSegment)
    hold(lambda s, r, x: r == FIRST and isinstance(x, kinds) and x.epoch == 2)
    accepts = hold(lambda s, r, x: r == LOST and isinstance(x, AcceptJournal) and x.epoch == 2)
    lab.cluster.run_until(lambda: bool(accepts.messages), 60 * SECOND)
    second = accepts.messages[0][0]
    lab.faults.cut(second, "coordination")
    lab.faults.expire_session(second)
    late = hold(lambda s, r, x: r == REPLACED and isinstance(x, kinds) and x.epoch == 3)
    waiting = hold(lambda s, r, x: isinstance(x, AcceptJournal) and x.epoch == 3)
    lab.cluster.run_until(lambda: bool(waiting.messages), 10 * SECOND)
    lab.faults.new_disk(LOST)
    lab.faults.restart(LOST)
    lab.run_ms(5)
    hold(lambda s, r, x: r == LOST and isinstance(x, FinishSegment) and x.epoch == 2)
    accepts.release()
    lab.run_ms(500)
    waiting.release()
    lab.await_next_active()
    late.drop()
    lab.finish()
    writes(lab, "b", 3)
    lab.run_ms(1_000)
    applied = {s.server: s.event.sn for s in lab.cluster.events if type(s.event) is Applied}
    assert min(applied.values()) >= max(applied.values()) - 1, applied
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", [1, 2])
def test_a_disk_that_a_later_server_recorded_counts_for_no_deposed_one(seed: int) -> None:
    """Only the second node has a group. The next server has the promises of the other two, when the last one loses its disk; the new one takes the
    group from the deposed server and is then recorded by the next one.
    """
    lab = lab_of("qjm", seed, standbys=2)
    writes(lab, "a", 3)
    lab.run_ms(32_000)
    hold, old, was = lab.cluster.hold, lab.active, recorded(lab, LOST)
    hold(lambda s, r, x: s == old and r == FIRST and isinstance(x, StartSegment | WriteJournal))
    late = hold(lambda s, r, x: s == old and r == LOST and isinstance(x, StartSegment | WriteJournal))
    lab.cluster.hold_watch(old)
    writing = lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(150)
    lab.faults.take_lock("g1")
    hold(lambda s, r, x: s != old and r == REPLACED)
    accepts = hold(lambda s, r, x: isinstance(x, AcceptJournal))
    lab.cluster.run_until(lambda: bool(accepts.messages), 1 * SECOND)
    lab.faults.new_disk(LOST)
    lab.faults.restart(LOST)
    lab.run_ms(5)
    written = hold(lambda s, r, x: s == LOST and r == old and isinstance(x, JournalWritten))
    late.release()
    lab.cluster.run_until(lambda: len(written.messages) == 2, 1 * SECOND)
    hold(lambda s, r, x: s == old and r == LOST)
    accepts.release()
    lab.cluster.run_until(lambda: recorded(lab, LOST) != was, 1 * SECOND)
    written.release()
    lab.run_ms(300)
    lab.finish()
    assert writing.done()
    assert lab.eve.call(Stat("/b"), 30 * SECOND).error == ""
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", [1, 2])
def test_a_writer_that_cannot_record_a_disk_for_now_goes_on(seed: int) -> None:
    lab = lab_of("qjm", seed, standbys=2)
    writes(lab, "a", 3)
    lab.run_ms(29_000)
    old, active = recorded(lab), lab.active
    written = lab.cluster.hold(lambda s, r, x: s == REPLACED and isinstance(x, JournalWritten))
    replace(lab)
    lab.cluster.run_until(lambda: bool(written.messages), 5 * SECOND)
    lab.faults.cut(active, "coordination")
    lab.cluster.coordination_of(active).disconnected()
    written.release()
    lab.run_ms(200)
    lab.faults.heal(active, "coordination")
    await_record(lab, old)
    lab.finish()
    assert len(lab.serving()) == 1
    assert lab.broken() == {}


def test_a_new_disk_is_not_synced_for_each_group_that_it_copies() -> None:
    lab = lab_of("qjm", 1)
    writes(lab, "a", 150, 1)
    lab.run_ms(1_000)
    old, synced = recorded(lab), lab.cluster.servers[REPLACED].store.synced
    replace(lab)
    before = synced["journal"]
    await_record(lab, old)
    assert synced["journal"] - before < 10
    lab.finish()
    assert lab.broken() == {}


def displaced(lab: Lab) -> tuple[int, tuple[str, str, Message]]:
    """The node's disk is replaced twice. The first new one is not recorded. Returns the second one, which is, and a late acknowledgement of the
    first."""
    writes(lab, "a", 3)
    lab.run_ms(5_000)
    old = recorded(lab)
    late = lab.cluster.hold(lambda s, r, x: s == REPLACED and isinstance(x, JournalWritten))
    replace(lab)
    lab.cluster.run_until(lambda: bool(late.messages), 60 * SECOND)
    copy = late.messages[0]
    late.drop()
    replace(lab)
    await_record(lab, old)
    lab.run_ms(100)
    return recorded(lab), copy


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("written", [0, 3])
def test_a_disk_that_a_late_message_of_an_earlier_one_replaced_is_recorded_again(
    written: int, seed: int
) -> None:
    """With the next group, or with the next segment."""
    lab = lab_of("qjm", seed, standbys=2)
    present, copy = displaced(lab)
    lab.deliver(copy)
    lab.cluster.run_until(lambda: recorded(lab) != present, 1 * SECOND)
    if written:
        writes(lab, "b", written, 100)
    else:
        lab.run_ms(35_000)
    assert recorded(lab) == present
    is_taken_over(lab, "/b2" if written else "/a2")


@every_family
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("lost_after_ms", [0, 400])
def test_a_disk_that_is_displaced_while_a_group_is_under_way_counts_again(
    lost_after_ms: int, seed: int, protocol: str
) -> None:
    """The last node stops before it has acknowledged the group, or before the segment is finished: neither can be done without the displaced disk."""
    lab = lab_of(protocol, seed, standbys=2)
    lost = lab.cluster.hold(lambda s, r, x: s == LOST and isinstance(x, JournalWritten) and not lost_after_ms)
    present, copy = displaced(lab)
    late = copy[2]
    written = lab.cluster.hold(lambda s, r, x: s == REPLACED and isinstance(x, JournalWritten) and x != late)
    lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(lambda: bool(written.messages), 1 * SECOND)
    lab.deliver(copy)
    lab.cluster.run_until(lambda: recorded(lab) != present, 1 * SECOND)
    written.release()
    lab.run_ms(lost_after_ms)
    lab.faults.crash(LOST)
    lost.drop()
    lab.run_ms(3_000)
    writing = lab.begin(lab.eve, Mkdir("/c"))
    lab.cluster.run_until(lambda: all(task.done() for task in lab.tasks), 20 * SECOND)
    assert writing.exception() is None
    assert recorded(lab) == present
    lab.finish()
    assert lab.broken() == {}
