"""Groups below their floor: they return with any server that can be renewed, or a person forces a server (safety rules 4 and 19)."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.faults.check import FaultUnsupported
from nodes.metadata.operations import Mkdir, Stat
from nodes.trace.events import Configured, Cut, StepTaken
from tests.simulation.mams.lab import Lab


def members(lab: Lab) -> list[str]:
    return [each.event.members for each in lab.cluster.events if type(each.event) is Configured][-1]


def steps(lab: Lab, server: str) -> list[str]:
    """Outcomes of an order at a server."""
    found = [each.event for each in lab.cluster.events if each.server == server]
    return [each.step for each in found if type(each) is StepTaken and each.procedure == "force"]


def below_floor(seed: int) -> tuple[Lab, str, str]:
    """One of three died, then the active: the third has every group and may not continue alone. Returns the lab, the third server and the first
    dead one."""
    lab = Lab(seed, standbys=2)
    lab.ada.call(Mkdir("/a"))
    old, (left, first) = lab.active, lab.standbys
    lab.faults.crash(first)
    lab.ada.call(Mkdir("/b"))
    lab.run_ms(12_000)
    lab.faults.crash(old)
    lab.run_ms(15_000)
    return lab, left, first


def serves(lab: Lab, path: str) -> None:
    lab.begin(lab.eve, Stat("/b"))
    answered = lab.begin(lab.eve, Mkdir(path))
    lab.cluster.run_until(answered.done, 30 * SECOND)
    assert answered.exception() is None


def heals(lab: Lab) -> None:
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", range(3))
def test_below_the_floor_a_server_that_returns_is_enough(seed: int) -> None:
    lab, left, first = below_floor(seed)
    lab.faults.restart(first)
    serves(lab, "/c")
    assert {left, first} <= set(members(lab))
    heals(lab)


@pytest.mark.parametrize("seed", range(3))
def test_below_the_floor_a_new_server_is_enough(seed: int) -> None:
    lab, left, _ = below_floor(seed)
    lab.faults.add_server("g1")
    serves(lab, "/c")
    assert {left, lab.faults.added} <= set(members(lab))
    heals(lab)


@pytest.mark.parametrize("seed", range(3))
def test_forced_it_serves_alone_and_the_others_come_back(seed: int) -> None:
    lab, left, _ = below_floor(seed)
    lab.faults.force("g1", left)
    serves(lab, "/c")
    assert members(lab) == [left] and steps(lab, left) == ["ordered", "done"]
    heals(lab)
    assert sorted(members(lab)) == ["mds1", "mds2", "mds3"]


@pytest.mark.parametrize("seed", range(3))
def test_an_active_below_the_floor_takes_writes_again(seed: int) -> None:
    lab = Lab(seed, standbys=2)
    lab.ada.call(Mkdir("/b"))
    active = lab.active
    for name in lab.standbys:
        lab.faults.crash(name)
        lab.run_ms(12_000)
    waits = lab.begin(lab.ada, Mkdir("/c"))
    lab.run_ms(5_000)
    assert not waits.done()
    lab.faults.force("g1", active)
    serves(lab, "/d")
    assert members(lab) == [active] and steps(lab, active) == ["ordered", "done"]
    heals(lab)


@pytest.mark.parametrize("seed", range(3))
def test_what_the_others_had_alone_is_lost_and_said(seed: int) -> None:
    lab = Lab(seed, standbys=2)
    lab.ada.call(Mkdir("/b"))
    old, (first, behind) = lab.active, lab.standbys
    held = lab.hold_journals(behind)
    lab.ada.call(Mkdir("/lost"))
    lab.faults.crash(old)
    lab.faults.crash(first)
    held.drop()
    lab.run_ms(15_000)
    lab.faults.force("g1", behind)
    serves(lab, "/c")
    assert steps(lab, behind) == ["ordered", "3b", "done"]
    lab.finish()
    cut = {each.server for each in lab.cluster.events if type(each.event) is Cut}
    assert cut == {old, first}
    assert any("lost: call" in line for line in lab.broken().values())


@pytest.mark.parametrize("seed", range(3))
def test_images_of_what_is_lost_are_set_aside(seed: int) -> None:
    lab = Lab(seed, standbys=2, image_every=4)
    lab.ada.call(Mkdir("/b"))
    old, (first, behind) = lab.active, lab.standbys
    held = lab.hold_journals(behind)
    for number in range(12):
        lab.ada.call(Mkdir(f"/lost{number}"))
        lab.run_ms(300)
    lab.run_ms(2_000)
    lab.faults.crash(old)
    lab.faults.crash(first)
    held.drop()
    lab.run_ms(15_000)
    lab.faults.force("g1", behind)
    serves(lab, "/c")
    lab.finish()
    for name in (old, first):
        kept = [path for path in lab.cluster.servers[name].store.files if path.startswith("aside/after-")]
        assert any("/journal/" in path for path in kept) and any("/image/" in path for path in kept), kept
    for name in lab.cluster.view():
        lab.faults.power_loss(name)
    for name in lab.cluster.view():
        lab.faults.restart(name)
    lab.cluster.run_until(lab.cluster.settled)
    lab.eve.call(Stat("/c"))
    assert "same sn same state" not in lab.broken()


@pytest.mark.parametrize("seed", range(3))
def test_who_answers_with_a_longer_journal_is_copied_first(seed: int) -> None:
    lab = Lab(seed, standbys=4)
    lab.ada.call(Mkdir("/a"))
    old, (first, second, longer, behind) = lab.active, lab.standbys
    held = lab.hold_journals(behind)
    lab.ada.call(Mkdir("/b"))
    for name in (old, first, second):
        lab.faults.crash(name)
    held.drop()
    lab.run_ms(15_000)
    lab.faults.force("g1", behind)
    serves(lab, "/c")
    assert set(members(lab)) == {behind, longer}
    heals(lab)


@pytest.mark.parametrize("seed", range(3))
def test_an_order_is_void_as_soon_as_another_serves(seed: int) -> None:
    lab = Lab(seed, standbys=2)
    lab.ada.call(Mkdir("/b"))
    old, (first, second) = lab.active, lab.standbys
    for name in (old, first):
        lab.faults.crash(name)
    lab.run_ms(1_000)
    lab.faults.pause(second)
    lab.faults.resume(second)
    lab.faults.force("g1", second)
    lab.faults.cut(second, "coordination")
    lab.faults.restart(first)
    lab.faults.restart(old)
    lab.run_ms(15_000)
    lab.faults.heal_all()
    lab.run_ms(5_000)
    assert steps(lab, second)[-1] in ("void", "done")
    heals(lab)


def test_a_group_that_serves_is_not_forced() -> None:
    lab = Lab(1, standbys=2)
    lab.run_ms(1_000)
    for group, server, line in (
        ("g1", lab.standbys[0], "is served by"),
        ("g1", "mds9", "no server 'mds9'"),
        ("g2", lab.active, "no server of g2"),
    ):
        with pytest.raises(FaultUnsupported, match=line):
            lab.faults.force(group, server)
    assert not any(steps(lab, name) for name in lab.cluster.servers)


def test_an_old_active_that_is_cut_off_answers_nobody_any_more_before_the_forced_one_does() -> None:
    lab = Lab(1, standbys=2)
    lab.ada.call(Mkdir("/b"))
    old, (first, second) = lab.active, lab.standbys
    lab.faults.crash(first)
    lab.run_ms(12_000)
    for name in (second, "coordination"):
        lab.faults.cut(old, name)
    lab.run_ms(15_000)
    lab.faults.force("g1", second)
    serves(lab, "/c")
    heals(lab)


def test_a_server_that_has_to_be_renewed_takes_no_order() -> None:
    """Its journal is quarantined: the order could not be carried out, and would stay until its timeout."""
    lab, left, first = below_floor(1)
    lab.faults.crash(left)
    lab.run_ms(8_000)
    lab.faults.corrupt(first, "journal")
    lab.faults.restart(first)
    lab.run_ms(2_000)
    with pytest.raises(FaultUnsupported, match="it has to be renewed first: journal/"):
        lab.faults.force("g1", first)
    assert steps(lab, first) == []
    lab.faults.restart(left)
    serves(lab, "/c")
    heals(lab)


@pytest.mark.parametrize("seed", range(3))
def test_who_was_elected_and_waits_in_vain_makes_room(seed: int) -> None:
    lab = Lab(seed, standbys=4)
    lab.ada.call(Mkdir("/a"))
    lab.ada.call(Mkdir("/b"))
    for name in (lab.active, *lab.standbys[:2]):
        lab.faults.crash(name)
    lab.run_ms(15_000)
    elected = lab.cluster.ensemble.observer.holders["g1"]
    running = [name for name in lab.cluster.view() if lab.cluster.servers[name].process == "running"]
    [other] = [name for name in running if name != elected]
    lab.faults.force("g1", other)
    serves(lab, "/c")
    assert lab.active == other and set(members(lab)) == {elected, other}
    heals(lab)
