"""The BackupNode's stream: no backup acknowledges it, a backup with a gap requests the rest, and a removed backup receives nothing (CFS §2.1)."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.mams import ssp
from nodes.protocols.mams.messages import DecisionLogged, Mismatch, Prepare, Prepared
from nodes.trace.events import Ignored, StepTaken
from nodes.wire.messages import Mark, Message
from tests.simulation.baselines.lab import lab_of
from tests.simulation.mams.lab import Lab

SEEDS = (1, 2, 3)


def kinds_of(lab: Lab) -> dict[type[Message], int]:
    """Messages by kind, from now on."""
    seen: dict[type[Message], int] = {}

    def count(sender: str, receiver: str, message: Message) -> bool:
        seen[type(message)] = seen.get(type(message), 0) + 1
        return False

    lab.cluster.hold(count)
    return seen


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("standbys", [1, 3])
def test_no_acknowledgement_is_sent(standbys: int, seed: int) -> None:
    """Never: neither while it serves, nor in a takeover, nor when a server is renewed."""
    lab = lab_of("backupnode", seed, standbys=standbys)
    seen = kinds_of(lab)
    for number in range(20):
        lab.ada.call(Mkdir(f"/a{number}"))
    lab.run_ms(500)
    old = lab.active
    lab.faults.crash(old)
    lab.ada.call(Mkdir("/b"))
    lab.faults.restart(old)
    lab.cluster.run_until(lambda: lab.cluster.view()[old] == "S")
    lab.ada.call(Mkdir("/c"))
    lab.finish()
    assert lab.broken() == {}
    assert seen[Prepare] > 20 and Prepared not in seen and DecisionLogged not in seen


@pytest.mark.parametrize("seed", SEEDS)
def test_a_receiver_with_a_gap_asks_for_what_it_lacks(seed: int) -> None:
    lab = lab_of("backupnode", seed)
    lab.ada.call(Mkdir("/a"))
    lab.run_ms(500)
    lost = lab.hold_journals(*lab.standbys)
    lab.ada.call(Mkdir("/b"))
    lost.drop()
    seen = kinds_of(lab)
    lab.ada.call(Mkdir("/c"))
    lab.run_ms(500)
    assert seen[Mismatch] == 1 and len(lab.standbys) == 1
    lab.faults.crash(lab.active)
    for path in ("/a", "/b", "/c"):
        lab.eve.call(Stat(path))
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_receiver_whose_session_has_ended_is_sent_no_more(seed: int) -> None:
    lab = lab_of("backupnode", seed, standbys=2)
    lab.ada.call(Mkdir("/a"))
    gone = lab.standbys[0]
    lab.faults.crash(gone)
    lab.run_ms(9_000)
    shrunk = [
        s.event.detail
        for s in lab.cluster.events
        if type(s.event) is StepTaken and s.event.procedure == "shrink"
    ]
    assert f"{gone} has left the view and is sent no more journals" in shrunk
    seen: list[str] = []
    lab.cluster.hold(
        lambda sender, receiver, message: type(message) is Prepare and seen.append(receiver) is not None
    )
    lab.ada.call(Mkdir("/b"))
    lab.run_ms(500)
    assert seen and gone not in seen
    lab.faults.restart(gone)
    lab.cluster.run_until(lambda: lab.cluster.view()[gone] == "S")
    lab.finish()
    assert lab.broken() == {}


def test_a_receiver_far_behind_is_sent_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without answers, sending continues at each tick; a server that was cut off is in step again when all is sent."""
    monkeypatch.setattr(ssp, "PREPARE_BYTES", 8_000)
    lab = lab_of("backupnode", 4)
    lab.ada.call(Mkdir("/a"))
    [standby] = lab.standbys
    lab.faults.cut(lab.active, standby)
    for number in range(300):
        lab.ada.call(Mkdir(f"/a/{number}-" + "x" * 200))
    lab.faults.heal_all()
    sent: list[int] = []
    lab.cluster.hold(
        lambda sender, receiver, message: (
            type(message) is Prepare and sent.append(len(message.groups)) is not None
        )
    )
    lab.ada.call(Mkdir("/b"))
    lab.run_ms(3_000)
    assert sum(sent) >= 300 and max(sent) < 60
    lab.faults.crash(lab.active)
    lab.eve.call(Stat("/b"))
    lab.finish()
    assert lab.broken() == {}


def test_an_acknowledgement_has_no_effect() -> None:
    lab = lab_of("backupnode", 5)
    lab.ada.call(Mkdir("/a"))
    lab.cluster.net.carry(lab.standbys[0], lab.active, [Prepared(1, Mark(0, 1, 1, 0))])
    lab.run_ms(100)
    ignored = [s.event for s in lab.cluster.events if type(s.event) is Ignored]
    assert any("not acknowledged" in event.reason for event in ignored)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", SEEDS)
def test_an_idle_receiver_with_a_gap_asks_for_what_it_lacks(seed: int) -> None:
    """No later group shows it the gap. What was lost long ago is not lost when the active dies."""
    lab = lab_of("backupnode", seed)
    lab.ada.call(Mkdir("/a"))
    active, [backup] = lab.active, lab.standbys
    lab.faults.cut(active, backup)
    lab.ada.call(Mkdir("/b"))
    lab.faults.heal_all()
    lab.run_ms(10_000)
    lab.faults.crash(active)
    lab.eve.call(Stat("/b"))
    lab.finish()
    assert lab.broken() == {}
