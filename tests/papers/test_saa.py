"""SAA: He, Ou, Engelmann, Chen, Scott, "Symmetric active/active metadata service for high availability parallel file systems" (JPDC 2009)."""

from __future__ import annotations

import pytest

from nodes.config import MILLISECOND, SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.symmetric.messages import Broadcast
from nodes.trace.events import Applied, Called, Configured, Delivered, Serving, StepTaken
from tests.papers.said import Said
from tests.simulation.symmetric.lab import SymmetricLab as Lab


def delivered(lab: Lab, server: str) -> list[tuple[int, int, str, int]]:
    events = [each.event for each in lab.cluster.events if each.server == server]
    return [(e.view, e.sn, e.sender, e.counter) for e in events if isinstance(e, Delivered)]


def busy(lab: Lab, each: int = 15) -> None:
    tasks = [
        lab.begin(client, Mkdir(f"/{name}{number}"))
        for number in range(each)
        for name, client in (("a", lab.ada), ("e", lab.eve))
    ]
    lab.cluster.run_until(lambda: all(task.done() for task in tasks), 10 * SECOND)
    lab.run_ms(500)


def test_2_every_member_is_active_and_takes_writes() -> None:
    lab = Lab(1)
    busy(lab)
    writers = {each.event.server for each in lab.cluster.events if isinstance(each.event, Called)}
    assert {"mds1", "mds3"} <= writers


@pytest.mark.parametrize("order", ["fast", "plain"])
def test_4_2_all_members_deliver_the_same_messages_in_the_same_order(order: str) -> None:
    lab = Lab(1, order=order)
    busy(lab)
    everybody = [delivered(lab, name) for name in lab.names]
    common = min(len(each) for each in everybody)
    assert len({sender for _, _, sender, _ in everybody[0][:common]}) >= 2
    assert all(each[:common] == everybody[0][:common] for each in everybody)


def test_4_1_a_members_own_messages_are_delivered_in_the_order_in_which_it_sent_them() -> None:
    lab = Lab(1)
    busy(lab)
    for sender in lab.names:
        counters = [counter for _, _, by, counter in delivered(lab, "mds2") if by == sender]
        assert counters == sorted(set(counters))


def test_5_2_with_fast_delivery_a_write_does_not_wait_for_anybodys_next_heartbeat() -> None:
    """The plain protocol waits for a message of every member; an idle member sends the heartbeat."""
    took: dict[str, float] = {}
    for order in ("fast", "plain"):
        lab = Lab(1, order=order)
        lab.ada.call(Mkdir("/a"))
        lab.run_ms(2_000)
        began_ns = lab.cluster.now_ns
        lab.ada.call(Mkdir("/b"))
        took[order] = (lab.cluster.now_ns - began_ns) / MILLISECOND
    assert took["fast"] < 10 and took["plain"] > 10 * took["fast"]


def test_5_2_idle_members_acknowledge_by_themselves() -> None:
    lab = Lab(1)
    lab.ada.call(Mkdir("/a"))
    lab.run_ms(2_000)
    said = Said(lab.cluster)
    lab.ada.call(Mkdir("/b"))
    assert {sent.sender for sent in said.of(Broadcast)} == {*lab.names}


def test_6_reads_are_answered_where_they_are_asked_without_a_broadcast() -> None:
    lab = Lab(1)
    lab.ada.call(Mkdir("/a"))
    lab.run_ms(2_000)
    said = Said(lab.cluster)
    for name in lab.names:
        lab.asks(lab.eve, name)
        assert lab.eve.call(Stat("/a")).error == ""
    reads = {each.event.server for each in said.reported(Called, "eve") if isinstance(each.event, Called)}
    assert reads == {*lab.names} and not said.of(Broadcast)


def test_6_handles_are_the_same_on_all_members() -> None:
    """Each member allocates inode numbers itself; equal digests of the namespace, with inode numbers, show that the members agree."""
    lab = Lab(1)
    busy(lab)
    digests: dict[int, set[int]] = {}
    for each in lab.cluster.events:
        if isinstance(each.event, Applied):
            digests.setdefault(each.event.sn, set()).add(each.event.digest)
    assert len(digests) >= 4 and all(len(each) == 1 for each in digests.values())


def test_7_3_there_is_no_failover_the_clients_of_other_members_go_on() -> None:
    lab = Lab(1)
    lab.eve.call(Mkdir("/a"))
    lab.faults.crash("mds1")
    assert lab.eve.call(Stat("/a"), 100 * MILLISECOND).error == ""
    task = lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(task.done, 5 * SECOND)
    assert task.result().error == ""


def test_5_3_members_that_go_on_have_delivered_the_same_before_the_next_view() -> None:
    lab = Lab(1, members=4)
    tasks = [lab.begin(lab.ada, Mkdir(f"/a{number}")) for number in range(10)]
    lab.hold_broadcasts("mds1", "mds3")
    lab.run_ms(5)
    lab.faults.crash("mds1")
    lab.await_view_of("mds2", "mds3", "mds4")
    old = [[each for each in delivered(lab, name) if each[0] == 1] for name in ("mds2", "mds3", "mds4")]
    assert old[0] == old[1] == old[2]
    lab.cluster.run_until(lambda: all(task.done() for task in tasks), 10 * SECOND)
    assert [task.exception() for task in tasks] == [None] * 10


def test_5_3_a_view_is_agreed_flushed_and_settled_before_it_is_installed() -> None:
    lab = Lab(1)
    said = Said(lab.cluster)
    lab.faults.crash("mds3")
    lab.await_view_of("mds1", "mds2")
    steps = [each.event.step for each in said.reported(StepTaken) if isinstance(each.event, StepTaken)]
    wanted = ["propose", "flush", "settle", "install"]
    assert [step for step in steps if step in wanted] == wanted
    installed = said.reported(Configured)[-1]
    assert all(said.place(serving) > said.place(installed) for serving in said.reported(Serving))


def test_3_a_member_outside_the_primary_partition_answers_nobody() -> None:
    lab = Lab(1)
    lab.faults.cut("mds1", others=["mds2", "mds3", "coordination"])
    lab.await_view_of("mds2", "mds3")
    lab.eve.call(Mkdir("/b"))
    task = lab.begin(lab.ada, Stat("/b"))
    lab.cluster.run_until(task.done, 20 * SECOND)
    answered = [
        each.event for each in lab.cluster.events if each.server == "ada" and isinstance(each.event, Called)
    ]
    assert answered[-1].server in ("mds2", "mds3") and answered[-1].error == ""


def test_6_a_member_that_joins_has_the_state_of_the_group_when_it_begins() -> None:
    lab = Lab(1)
    lab.faults.crash("mds3")
    lab.await_view_of("mds1", "mds2")
    for number in range(20):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.faults.restart("mds3")
    lab.await_view_of("mds1", "mds2", "mds3")
    lab.asks(lab.eve, "mds3")
    assert lab.eve.call(Stat("/d19")).error == ""
    assert [each for each in lab.cluster.events if isinstance(each.event, Called)][-1].event.server == "mds3"  # type: ignore[union-attr]
