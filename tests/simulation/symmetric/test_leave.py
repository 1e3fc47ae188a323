"""A member that is stopped on purpose announces it, and the others do not wait for its silence."""

from __future__ import annotations

import pytest

from nodes.config import MILLISECOND
from nodes.metadata.operations import Mkdir, Stat
from tests.simulation.symmetric.lab import SymmetricLab


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("victim", ["mds1", "mds2", "mds3"])
def test_writes_go_on_at_once_when_a_member_is_stopped(victim: str, seed: int) -> None:
    lab = SymmetricLab(seed)
    lab.ada.call(Mkdir("/before"))
    lab.asks(lab.ada, "mds2" if victim == "mds1" else "mds1")
    lab.run_ms(2_000)
    lab.faults.stop(victim)
    began_ns = lab.cluster.now_ns
    lab.ada.call(Mkdir("/after"))
    assert lab.cluster.now_ns - began_ns < 10 * MILLISECOND
    lab.finish()
    assert lab.letters == "MMM" and lab.broken() == {}


def test_who_waits_at_a_member_that_is_stopped_goes_elsewhere_at_once() -> None:
    lab = SymmetricLab(4)
    lab.eve.call(Mkdir("/before"))
    lab.hold_broadcasts("mds3", "mds1", "mds2")
    write = lab.begin(lab.eve, Mkdir("/a"))
    lab.run_ms(5)
    lab.faults.stop("mds3")
    began_ns = lab.cluster.now_ns
    lab.cluster.run_until(write.done)
    assert lab.cluster.now_ns - began_ns < 20 * MILLISECOND
    lab.eve.call(Stat("/a"))
    lab.finish()
    assert lab.broken() == {}


def test_all_but_one_are_stopped_one_after_the_other() -> None:
    lab = SymmetricLab(5, members=4)
    for victim in ("mds4", "mds1", "mds2"):
        lab.asks(lab.ada, "mds3")
        lab.faults.stop(victim)
        lab.ada.call(Mkdir(f"/{victim}"))
    lab.finish()
    assert lab.letters == "MMMM" and lab.broken() == {}
