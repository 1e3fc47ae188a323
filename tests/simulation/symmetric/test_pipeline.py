"""The request pipeline of SAA §6: jobs that wait for others, and jobs that do not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodes.config import MILLISECOND
from nodes.metadata import tree_reader
from nodes.metadata.operations import ContentSummary, Create, List, Mkdir, Stat
from nodes.protocols.symmetric.execution import Execution
from nodes.protocols.symmetric.locks import MemberLocks
from nodes.protocols.symmetric.messages import Alive
from nodes.protocols.symmetric.messages import Held as HeldSn
from nodes.sim.network import HeldMessages
from nodes.wire.messages import Message
from tests.simulation.symmetric.lab import SymmetricLab


def knows_not_that_all_have(lab: SymmetricLab) -> HeldMessages:
    """mds3 has a write of `/ada/x` on its disk and does not know that all members have it; mds1 knows, and has answered it (safety rule 20)."""
    lab.ada.call(Mkdir("/ada"))
    lab.eve.call(Mkdir("/eve"))
    lab.run_ms(50)

    def reports(sender: str, target: str, message: Message) -> bool:
        return type(message) in (HeldSn, Alive) and sender == "mds2" and target == "mds3"

    held = lab.cluster.hold(reports)
    lab.ada.call(Mkdir("/ada/x"))
    return held


def test_a_read_waits_only_for_writes_of_what_it_looks_at() -> None:
    lab = SymmetricLab(1)
    held = knows_not_that_all_have(lab)
    for operation in (Stat("/eve"), List("/eve"), Stat("/ada/y")):
        task = lab.begin(lab.eve, operation)
        lab.run_ms(2)
        assert task.done(), operation
    waiting = (Stat("/ada/x"), List("/ada"), Stat("/ada"), ContentSummary("/"))
    kept = [lab.begin(lab.eve, operation) for operation in waiting]
    lab.run_ms(20)
    assert not any(task.done() for task in kept)
    held.release()
    lab.run_ms(20)
    assert all(task.done() for task in kept)
    lab.finish()
    assert lab.broken() == {}


def test_a_reader_that_passes_a_write_lock_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemberLocks, "writer_of", lambda locks, things, until: None)
    lab = SymmetricLab(1)
    knows_not_that_all_have(lab)
    stale = lab.begin(lab.eve, Stat("/ada/x"))
    lab.run_ms(2)
    assert stale.done()
    lab.finish()
    assert "had been answered before it was invoked" in lab.broken()["linearisable"]


def test_a_member_reports_its_jobs_and_locks() -> None:
    """Jobs of a call before it is on mds2's disk, of its reader, and of another call that extends the same directory."""
    lab = SymmetricLab(2)
    lab.ada.call(Mkdir("/d"))
    lab.eve.call(Mkdir("/eve"))

    def reported(server: str) -> dict[str, int]:
        found: dict[str, int] = lab.cluster.ask(server, {"do": "counters"})["pipeline"]
        return found

    nothing = dict.fromkeys(("active", "idle", "decided", "waiting", "read", "update", "write"), 0)
    lab.run_ms(50)
    assert reported("mds1") == nothing
    lab.cluster.servers["mds2"].store.slow_ns = 100 * MILLISECOND
    lab.begin(lab.ada, Create("/d/a"))
    lab.begin(lab.eve, Create("/d/e"))
    lab.run_ms(20)
    assert reported("mds1") == nothing | {"idle": 1, "decided": 1, "waiting": 1, "read": 2, "write": 3}
    assert reported("mds2") == nothing | {"decided": 1, "waiting": 1, "read": 2, "update": 3}
    lab.begin(lab.ada, Stat("/d/a"))
    lab.run_ms(5)
    assert reported("mds1")["idle"] == 2
    lab.finish()
    assert lab.broken() == {} and reported("mds1") == nothing


def slow_summary(lab: SymmetricLab, monkeypatch: pytest.MonkeyPatch, each_ms: int = 1) -> asyncio.Task[Any]:
    """mds1 counts sixty directories, each in so many milliseconds; meanwhile eve makes one more."""
    for number in range(60):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.eve.call(Mkdir("/eve"))
    lab.run_ms(50)
    world = lab.cluster.servers["mds1"].world
    assert world is not None
    monkeypatch.setattr(tree_reader, "SLICE", 1)
    monkeypatch.setattr(world, "when_idle", lambda step: world.clock.call_later(each_ms * MILLISECOND, step))
    summary = lab.begin(lab.ada, ContentSummary("/"))
    lab.run_ms(10)
    lab.begin(lab.eve, Mkdir("/late"))
    lab.run_ms(20)
    return summary


def test_a_long_read_lets_others_go_first_and_keeps_its_read_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = SymmetricLab(3)
    summary = slow_summary(lab, monkeypatch)
    late = lab.tasks[-1]
    looks = [lab.begin(lab.ada, Stat(path)) for path in ("/d1", "/late")]
    lab.run_ms(5)
    assert [task.done() for task in (summary, late, *looks)] == [False, True, True, False]
    pipeline = lab.cluster.ask("mds1", {"do": "counters"})["pipeline"]
    assert (pipeline["active"], pipeline["idle"], pipeline["decided"]) == (1, 1, 1)
    lab.cluster.run_until(looks[1].done)
    assert summary.done() and summary.result().result.directories == 62
    lab.finish()
    assert lab.broken() == {}


def test_a_write_beneath_a_long_read_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Execution, "may_submit", True)
    lab = SymmetricLab(3)
    slow_summary(lab, monkeypatch)
    lab.finish()
    assert "ContentSummary(/)" in lab.broken()["linearisable"]


def test_a_long_read_ends_with_the_view_that_its_member_falls_out_of(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = SymmetricLab(4)
    summary = slow_summary(lab, monkeypatch, 20)
    for other in ("mds2", "mds3"):
        lab.faults.cut("mds1", other)
    lab.await_view_of("mds2", "mds3")
    assert not summary.done()
    lab.finish()
    assert summary.result().epoch > 1 and summary.result().result.directories == 63
    assert lab.broken() == {}


def test_a_long_read_outlasts_a_change_of_the_view(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups that earlier views settled are submitted once it has ended."""
    lab = SymmetricLab(5)
    summary = slow_summary(lab, monkeypatch, 5)
    lab.faults.force_view("g1")
    lab.await_view_of(*lab.names)
    assert not summary.done() and lab.tasks[-1].done()
    lab.cluster.run_until(summary.done)
    assert (summary.result().epoch, summary.result().result.directories) == (2, 62)
    lab.finish()
    assert lab.broken() == {}
