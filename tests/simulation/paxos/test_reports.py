"""What a member reports in phase 1 while an image replaces a part of it."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.mechanisms import IMAGE_MESSAGES
from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.paxos.messages import PaxosPromise
from nodes.sim.ensemble import COORDINATION
from nodes.trace.events import Renewing
from nodes.trace.pool_events import JournalPruned
from tests.simulation.paxos.lab import Lab
from tests.simulation.paxos.test_images import short_segments  # noqa: F401


@pytest.mark.parametrize("protocol", ["packed-paxos", "multi-paxos"])
@pytest.mark.parametrize("overtakes", [False, True])
def test_undecided_slots_under_an_image_are_not_taken_for_decided(protocol: str, overtakes: bool) -> None:
    """A former primary has records of its own in slots that the others decided and pruned without it. It answers twice, and between its answers an
    image takes the place of these records."""
    lab = Lab(1, secondaries=4, protocol=protocol, image_every=20)
    lab.ada.call(Mkdir("/a"))
    lab.eve.call(Mkdir("/e"))
    former = lab.primary
    away, *others = lab.secondaries
    lab.faults.crash(away)
    for name in others:
        lab.faults.cut(former, name)
    lab.cluster.hold(lambda sender, receiver, message: sender == "eve" and receiver != former)
    for number in range(200):
        lab.begin(lab.eve, Mkdir(f"/open{number}"))
    lab.run_ms(100)
    images = lab.cluster.hold(
        lambda sender, receiver, message: type(message) in IMAGE_MESSAGES and receiver == former
    )
    lab.faults.cut(former, COORDINATION)
    lab.await_next_primary()
    for number in range(100):
        lab.ada.call(Mkdir(f"/d{number}"))
        if number % 25 == 24:
            lab.run_ms(3_000)
    assert {s.server for s in lab.reported(JournalPruned)} >= set(others)
    lab.faults.heal_all()
    lab.run_ms(2_000)
    assert not lab.reported(Renewing)
    witness = next(name for name in others if name != lab.primary)
    lab.faults.cut(former, COORDINATION)
    for name in others:
        lab.faults.crash(name)
    lab.faults.restart(away)
    promises = {
        name: lab.cluster.hold(
            lambda sender, receiver, message, name=name: type(message) is PaxosPromise and sender == name
        )
        for name in (former, witness)
    }
    lab.cluster.run_until(lambda: lab.cluster.ensemble.observer.holders.get("g1") == away)
    lab.faults.restart(witness)
    lab.run_ms(200)
    lab.faults.heal_all()
    assert promises[former].messages and promises[witness].messages
    images.drop()
    lab.cluster.run_until(lambda: bool(lab.reported(Renewing)), 5 * SECOND)
    lab.run_ms(200)
    before, *_, after = promises[former].messages
    promises[former].drop()
    for report in (after, before) if overtakes else (before, after):
        lab.deliver(report)
        lab.run_ms(5)
    promises[witness].release()
    lab.run_ms(3_000)
    for number in range(0, 100, 10):
        lab.begin(lab.ada, Stat(f"/d{number}"))
    lab.run_ms(3_000)
    lab.finish_somehow()
    assert lab.broken() == {}
