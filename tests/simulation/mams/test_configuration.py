"""Changes of the configuration whose record is late, lost or of unknown outcome (safety rules 3 and 22)."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import Any

import pytest

from nodes.config import MILLISECOND, SECOND, Knobs, one_group
from nodes.metadata.operations import Mkdir, Stat
from nodes.mutations import Mutations
from nodes.protocols.mams.messages import Prepared, Promise
from nodes.replicas.messages import Granted
from nodes.sim.cluster import SimCluster
from nodes.sim.ensemble import COORDINATION
from nodes.sim.loop import Stuck
from nodes.trace.events import Configured, Placed, Serving, Stamped, StepTaken
from nodes.world import SetNode
from tests.simulation.mams.lab import Lab
from tests.simulation.mams.test_forcing import members


def writes_configuration(changes: list[Any]) -> bool:
    return any(type(change) is SetNode and change.path.endswith("/configuration") for change in changes)


def shrinking(seed: int) -> tuple[Lab, str, str, str, Any]:
    """One of three servers is silent, and the record without it is on its way: lab, active, the remaining standby, the silent one, the write."""
    lab = Lab(seed, standbys=2)
    lab.ada.call(Mkdir("/a"))
    active, (stays, silent) = lab.active, lab.standbys
    written = lab.cluster.hold_write(active, writes_configuration)
    lab.faults.crash(silent)
    lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(lambda: bool(written.held), 10 * SECOND)
    return lab, active, stays, silent, written


@pytest.mark.parametrize("seed", range(3))
def test_a_write_of_unknown_outcome_that_lands_later_has_no_effect(seed: int) -> None:
    lab, active, _, silent, written = shrinking(seed)
    lab.faults.restart(silent)
    written.over = True
    lab.cluster.coordination_of(active).disconnected()
    lab.run_ms(400)
    before = [each for each in lab.cluster.events if type(each.event) is Configured]
    version = lab.cluster.ensemble.tree.nodes["/cloverlab/groups/g1/configuration"].data
    written.release()
    assert lab.cluster.ensemble.tree.nodes["/cloverlab/groups/g1/configuration"].data == version
    assert before == [each for each in lab.cluster.events if type(each.event) is Configured]
    lab.finish()
    assert lab.broken() == {} and sorted(members(lab)) == ["mds1", "mds2", "mds3"]


@pytest.mark.parametrize("seed", range(3))
def test_a_write_that_landed_though_its_answer_was_lost_is_read_back(seed: int) -> None:
    lab, active, stays, silent, written = shrinking(seed)
    written.release()
    lab.cluster.coordination_of(active).disconnected()
    lab.run_ms(1_000)
    assert sorted(members(lab)) == sorted([active, stays])
    lab.faults.crash(active)
    lab.faults.restart(silent)
    lab.begin(lab.eve, Stat("/b"))
    lab.run_ms(12_000)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", range(3))
def test_while_the_record_is_on_its_way_the_smaller_group_must_agree_too(seed: int) -> None:
    lab, active, stays, silent, written = shrinking(seed)
    lab.hold_journals(stays)
    lab.faults.restart(silent)
    waits = lab.begin(lab.eve, Mkdir("/c"))
    lab.run_ms(300)
    assert not waits.done()
    written.release()
    lab.faults.crash(active)
    for held in list(lab.cluster.net.holds):
        held.drop()
    lab.run_ms(12_000)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", range(3))
def test_a_lock_that_is_lost_meanwhile_ends_the_attempt_and_the_tenure(seed: int) -> None:
    lab, _, _, silent, written = shrinking(seed)
    lab.faults.restart(silent)
    lab.faults.take_lock("g1")
    lab.run_ms(50)
    written.release()
    lab.finish()
    assert len(lab.serving()) > 1
    assert lab.broken() == {} and sorted(members(lab)) == ["mds1", "mds2", "mds3"]


@pytest.mark.parametrize("seed", range(3))
def test_a_member_that_promises_while_it_is_removed_is_renewed(seed: int) -> None:
    """The promise of the deposed active comes while the next one removes it. Later its acknowledgements are late: it must not stay a standby that is
    sent nothing."""
    lab = Lab(seed, standbys=2)
    lab.ada.call(Mkdir("/a"))
    old = lab.active
    promises = lab.cluster.hold(lambda sender, _, message: type(message) is Promise and sender == old)
    late = lab.cluster.hold(lambda *x: type(x[2]) is Prepared and x[2].mark.epoch > 1)
    written = [lab.cluster.hold_write(name, writes_configuration) for name in lab.standbys]
    lab.faults.take_lock("g1")
    lab.cluster.run_until(lambda: any(each.held for each in written), 10 * SECOND)
    promises.release()
    lab.run_ms(20)
    for each in written:
        each.release()
    lab.run_ms(20)
    late.release()
    lab.await_next_active()
    silent = lab.cluster.hold(lambda sender, _, message: type(message) is Prepared and sender == old)
    lab.ada.call(Mkdir("/b"))
    lab.run_ms(2 * lab.cluster.config.timing.ack_timeout_ms)
    silent.drop()
    lab.run_ms(12_000)
    assert sorted(members(lab)) == ["mds1", "mds2", "mds3"]
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", range(3))
def test_a_junior_that_does_not_come_to_count_is_registered_as_no_standby(seed: int) -> None:
    """An elected server renews it while the others' acknowledgements are late; it is in step, and its grants do not come."""
    lab = Lab(seed, standbys=3, detection="members")
    lab.ada.call(Mkdir("/a"))
    junior = lab.standbys[-1]
    lab.faults.crash(junior)
    lab.cluster.run_until(lambda: junior not in members(lab), 30 * SECOND)
    granted = lab.cluster.hold(lambda sender, _, message: type(message) is Granted and sender == junior)
    lab.faults.restart(junior)
    late = lab.cluster.hold(lambda *x: type(x[2]) is Prepared and x[0] != junior and x[2].mark.epoch > 1)
    lab.faults.take_lock("g1")

    def details(procedure: str, step: str) -> list[str]:
        steps = [each.event for each in lab.cluster.events if type(each.event) is StepTaken]
        return [
            each.detail
            for each in steps
            if each.epoch > 1 and (each.procedure, each.step) == (procedure, step)
        ]

    lab.cluster.run_until(lambda: any(junior in line for line in details("renewing", "open")), 30 * SECOND)
    lab.run_ms(700)
    late.release()
    lab.cluster.run_until(lambda: bool(details("upgrade", "5")), 30 * SECOND)
    assert junior not in details("upgrade", "5")[0]
    granted.release()
    lab.run_ms(12_000)
    assert sorted(members(lab)) == ["mds1", "mds2", "mds3", "mds4"]
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_a_member_whose_disk_the_record_does_not_name_is_no_standby(seed: int, counts: bool) -> None:
    """It promises late in the first takeover, and acknowledges while the record is written. As a standby it would never be named: the others could
    not go on without the active."""
    late: list[str] = []

    def of_the_late(sender: str, _: str, message: Any) -> bool:
        if type(message) is Promise and not late:
            late.append(sender)
        return type(message) is Promise and sender in late

    mutations = Mutations(standby_without_record=not counts)
    cluster = SimCluster(one_group(2, mutations=mutations), seed)
    promises = cluster.hold(of_the_late)
    written = [cluster.hold_write(name, writes_configuration) for name in ("mds1", "mds2", "mds3")]
    cluster.run_until(lambda: any(each.held for each in written), 30 * SECOND)
    promises.release()
    cluster.run_for(50 * MILLISECOND)
    for each in written:
        each.release()
    cluster.run_until(cluster.settled, 30 * SECOND)
    client = cluster.start_client("ada")
    client.call(Mkdir("/a"))
    cluster.faults.crash(next(name for name, letter in cluster.view().items() if letter == "A"))
    written = client.spawn(Mkdir("/b"))
    with nullcontext() if counts else pytest.raises(Stuck):
        cluster.run_until(written.done, 30 * SECOND)


@pytest.mark.parametrize(
    ("standbys", "settings"), [(2, {}), (4, {}), (2, {"protocol": "2pc"}), (2, {"detection": "members"})]
)
@pytest.mark.parametrize("stays", [True, False])
@pytest.mark.parametrize("ms", [15, 25])
def test_the_first_record_names_every_member_that_acknowledges(
    standbys: int, settings: dict[str, Any], ms: int, stays: bool
) -> None:
    """With a slow path to coordination, members register while the record is written. They are no juniors: with no disk on record, no server could
    follow the elected when it dies."""
    mutations = Mutations(registers_while_elected=not stays)
    cluster = SimCluster(one_group(standbys, mutations=mutations, **settings), 1)
    names = [*cluster.servers]
    for name in names:
        cluster.faults.do("delay", [name, COORDINATION], {"ms": ms})
    cluster.run_until(lambda: any(type(each.event) is Serving for each in cluster.events), 30 * SECOND)
    elected = next(each.server for each in cluster.events if type(each.event) is Serving)
    cluster.faults.crash(elected)
    written = cluster.start_client("ada").spawn(Mkdir("/a"))
    cluster.run_until(written.done, 100 * SECOND)
    assert (written.exception() is None) is stays


@pytest.mark.parametrize(("standbys", "least"), [(1, 0), (2, 3)])
@pytest.mark.parametrize("late_ms", [80, 110, 140])
def test_a_place_that_was_written_for_a_former_life_is_taken_back(
    standbys: int, least: int, late_ms: int
) -> None:
    """A junior loses its disk while it is made a standby, and its next life finds itself one: it must be renewed all the same."""
    lab = Lab(1, standbys=standbys, min_in_step=least)
    lab.ada.call(Mkdir("/a"))
    junior, before = lab.standbys[0], len(lab.cluster.events)
    lab.cluster.faults.do("delay", [lab.active, COORDINATION], {"ms": 40})
    lab.faults.respawn(junior)
    opens = partial(opens_session, junior)
    lab.cluster.run_until(lambda: any(map(opens, lab.cluster.events[before:])), 60 * SECOND)
    lab.run_ms(late_ms)
    lab.faults.new_disk(junior)
    lab.faults.restart(junior)
    lab.run_ms(4_000)
    lab.faults.heal_all()
    for name in lab.standbys:
        if name != junior:
            lab.faults.crash(name)
    lab.ada.call(Mkdir("/b"))
    lab.finish()
    assert lab.broken() == {}


def opens_session(junior: str, stamped: Stamped) -> bool:
    """Whether the active begins to renew this junior."""
    event = stamped.event
    return type(event) is StepTaken and event.step == "open" and event.detail.startswith(f"{junior} ")


@pytest.mark.parametrize("seed", range(3))
def test_an_idle_group_removes_who_died_so_that_it_survives_the_next(seed: int) -> None:
    """CFS Table 3's double failures, without writes: one standby, and when that is committed the active."""
    lab = Lab(seed, standbys=2, min_in_step=1)
    lab.ada.call(Mkdir("/a"))
    active, (stays, dies) = lab.active, lab.standbys
    lab.faults.crash(dies)
    lab.cluster.run_until(lambda: sorted(members(lab)) == sorted([active, stays]), 10 * SECOND)
    lab.faults.crash(active)
    lab.await_next_active()
    assert lab.active == stays
    lab.eve.call(Stat("/a"))
    lab.finish()
    assert lab.broken() == {}


def test_an_idle_group_of_which_everybody_lives_stays_as_it_is() -> None:
    lab = Lab(1, standbys=2)
    before = [each for each in lab.cluster.events if type(each.event) is Configured]
    lab.run_ms(60_000)
    assert before == [each for each in lab.cluster.events if type(each.event) is Configured]


@pytest.mark.parametrize(("standbys", "least"), [(1, 0), (2, 3)])
def test_a_life_that_begins_unfit_is_no_standby_by_the_place_of_a_former_one(
    standbys: int, least: int
) -> None:
    """Its journal has rotted: it begins empty, answers no question about it, and as a standby it would not register."""
    knobs = Knobs(segment_bytes=300, records_per_group=1)
    lab = Lab(1, standbys=standbys, min_in_step=least, image_every=10, image_gap=10, knobs=knobs)
    for first, last in (
        (0, 60),
        (60, 100),
    ):  # The second image prunes what the first one has made unnecessary.
        for number in range(first, last):
            lab.ada.call(Mkdir(f"/a{number}"))
        lab.run_ms(20_000)
    junior = lab.standbys[0]
    held = lab.cluster.hold_write(lab.active, partial(makes_standby, junior))
    lab.faults.respawn(junior)
    lab.cluster.run_until(lambda: bool(held.held), 60 * SECOND)
    lab.faults.crash(junior)
    lab.faults.do("corrupt", [junior], {"what": "journal"})
    before = len(lab.cluster.events)
    lab.faults.restart(junior)
    lab.cluster.run_until(lambda: any(is_placed(junior, each) for each in lab.cluster.events[before:]))
    held.release()
    lab.run_ms(4_000)
    lab.faults.heal_all()
    for name in lab.standbys:
        if name != junior:
            lab.faults.crash(name)
    written = lab.begin(lab.cluster.start_client("zed"), Mkdir("/b"))
    lab.cluster.run_until(written.done, 60 * SECOND)
    assert written.exception() is None
    lab.finish()
    assert lab.broken() == {}


def makes_standby(server: str, changes: list[Any]) -> bool:
    return any(
        type(change) is SetNode and change.path.endswith(f"/view/{server}") and b"standby" in change.data
        for change in changes
    )


def is_placed(server: str, stamped: Stamped) -> bool:
    event = stamped.event
    return type(event) is Placed and event.server == server and event.state == "junior"
