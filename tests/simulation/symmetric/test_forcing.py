"""Members that are too few for the next view: a person forces one (safety rules 4 and 7)."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.faults.check import FaultUnsupported
from nodes.metadata.operations import Mkdir, Stat
from nodes.mutations import Mutations
from nodes.trace.events import StepTaken
from tests.simulation.symmetric.lab import SymmetricLab


def steps(lab: SymmetricLab, server: str) -> list[str]:
    found = [each.event for each in lab.cluster.events if each.server == server]
    return [each.step for each in found if type(each) is StepTaken and each.procedure == "force"]


def too_few(seed: int, **settings: object) -> SymmetricLab:
    """Two of five are left."""
    lab = SymmetricLab(seed, members=5, **settings)
    lab.ada.call(Mkdir("/a"))
    for name in ("mds3", "mds4", "mds5"):
        lab.faults.crash(name)
    lab.run_ms(5_000)
    return lab


@pytest.mark.parametrize("seed", range(3))
def test_two_of_five_go_on_when_a_person_says_so(seed: int) -> None:
    lab = too_few(seed)
    waits = lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(5_000)
    assert not waits.done()
    lab.faults.force("g1", "mds2")
    lab.cluster.run_until(waits.done, 30 * SECOND)
    assert steps(lab, "mds2") == ["ordered", "3b", "done"]
    lab.begin(lab.eve, Stat("/a"))
    lab.finish()
    assert lab.broken() == {}
    lab.eve.call(Stat("/b"))


def test_the_mutation_leaves_no_way_back() -> None:
    lab = too_few(1, mutations=Mutations(floor_without_way_back=True))
    with pytest.raises(FaultUnsupported, match="takes no such order"):
        lab.faults.force("g1", "mds2")


def test_a_group_that_serves_is_not_forced() -> None:
    lab = SymmetricLab(1)
    lab.run_ms(1_000)
    with pytest.raises(FaultUnsupported, match="is served by"):
        lab.faults.force("g1", "mds2")


def test_who_was_not_in_the_last_view_is_not_forced() -> None:
    lab = SymmetricLab(1, members=6)
    lab.ada.call(Mkdir("/a"))
    lab.faults.crash("mds6")
    lab.run_ms(5_000)
    for name in ("mds1", "mds2", "mds3"):
        lab.faults.crash(name)
    lab.run_ms(5_000)
    lab.faults.restart("mds6")
    for name in ("mds4", "mds5"):
        lab.faults.cut("mds6", name)
    lab.run_ms(5_000)
    with pytest.raises(FaultUnsupported, match="was not in view"):
        lab.faults.force("g1", "mds6")
