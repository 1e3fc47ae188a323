"""Journal nodes whose journal has lost its end to rot: they start again as often as they must, and decide nothing that they do not have."""

from __future__ import annotations

import pytest

from nodes.config import MILLISECOND, SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.wire.journal_messages import AcceptJournal, EpochPromised, JournalAccepted, WriteJournal
from tests.simulation.baselines.lab import lab_of
from tests.simulation.mams.lab import Lab

every_family = pytest.mark.parametrize("protocol", ["qjm", "hadoop-ha"])
both_seeds = pytest.mark.parametrize("seed", [1, 2])
WITHOUT, WITH, ROTTEN = "jn1", "jn2", "jn3"


def writes(lab: Lab, name: str, count: int, ms: int) -> None:
    for number in range(count):
        lab.ada.call(Mkdir(f"/{name}{number}"), 60 * SECOND)
        lab.run_ms(ms)


def rot(lab: Lab) -> None:
    lab.faults.crash(ROTTEN)
    lab.faults.corrupt(ROTTEN, "journal_tail", "middle")


def runs(lab: Lab) -> bool:
    return lab.cluster.servers[ROTTEN].process == "running"


@every_family
@both_seeds
def test_a_node_whose_last_finished_group_has_rotted_starts_twice(seed: int, protocol: str) -> None:
    """No message reaches it between the two starts."""
    lab = lab_of(protocol, seed, standbys=2)
    writes(lab, "a", 10, 30)
    lab.run_ms(35_000)
    rot(lab)
    for _ in range(2):
        lab.faults.restart(ROTTEN)
        lab.run_ms(500)
        assert runs(lab)
        lab.faults.crash(ROTTEN)
    lab.faults.restart(ROTTEN)
    writes(lab, "z", 20, 200)
    lab.finish()
    assert runs(lab)
    assert lab.broken() == {}


@pytest.mark.parametrize("ms", range(0, 1_000, 100))
def test_a_node_may_crash_at_any_moment_of_its_start_after_rot(ms: int) -> None:
    lab = lab_of("qjm", 1, standbys=2)
    writes(lab, "a", 10, 30)
    lab.run_ms(35_000)
    rot(lab)
    store = lab.cluster.servers[ROTTEN].store
    store.slow_ns = 150 * MILLISECOND
    for _ in range(3):
        lab.faults.restart(ROTTEN)
        lab.run_ms(ms)
        lab.faults.power_loss(ROTTEN, "nothing")
    store.slow_ns = 0
    lab.faults.restart(ROTTEN)
    writes(lab, "z", 20, 200)
    lab.finish()
    assert runs(lab)
    assert lab.broken() == {}


@every_family
@both_seeds
def test_a_node_that_has_lost_the_end_it_accepted_does_not_decide_it(seed: int, protocol: str) -> None:
    """Two nodes have an acknowledged group. One of them accepts it as the end from a server that dies, and then loses it to rot. The next server
    has the promises of all nodes.
    """
    lab = lab_of(protocol, seed, standbys=2)
    writes(lab, "a", 3, 100)
    hold, first = lab.cluster.hold, lab.active
    lost = hold(lambda s, r, x: s == first and r == WITHOUT and isinstance(x, WriteJournal))
    lab.ada.call(Mkdir("/b"), 10 * SECOND)
    lab.faults.crash(first)
    lost.drop()
    accepts = hold(lambda s, r, x: r != ROTTEN and isinstance(x, AcceptJournal))
    accepted = hold(lambda s, r, x: s == ROTTEN and isinstance(x, JournalAccepted))
    lab.cluster.run_until(lambda: bool(accepted.messages), 60 * SECOND)
    lab.faults.crash(accepted.messages[0][1])
    accepts.drop()
    accepted.drop()
    rot(lab)
    lab.faults.restart(ROTTEN)
    lab.run_ms(100)
    late = hold(lambda s, r, x: s == WITH and isinstance(x, EpochPromised))
    lab.cluster.run_until(lambda: bool(late.messages), 60 * SECOND)
    lab.run_ms(20)
    late.release()
    lab.await_next_active()
    assert lab.eve.call(Stat("/b"), 30 * SECOND).error == ""
    lab.finish()
    assert lab.broken() == {}
