"""DCFS3: Chen, Xiong, Meng, "Replication-based Highly Available Metadata Management for Cluster File Systems" (Cluster 2010).

The source is its slides, which have headings and no numbers.
"""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.paxos.messages import Accept, Accepted, PaxosPrepare, Success
from nodes.trace.events import Applied, Called, Committed, Stamped, StepTaken
from nodes.wire.messages import Answer
from tests.papers.said import Said
from tests.simulation.paxos.lab import Lab


def records(said: Said) -> list[int]:
    """Number of log records in each message to the first secondary."""
    accepts = [sent for sent in said.of(Accept) if sent.message.records]  # type: ignore[attr-defined]
    first = accepts[0].receiver
    return [len(sent.message.records) for sent in accepts if sent.receiver == first]  # type: ignore[attr-defined]


def test_asymmetric_architecture_the_primary_alone_orders_writes_and_secondaries_apply_in_that_order() -> (
    None
):
    lab = Lab(1)
    for number in range(8):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.run_ms(100)
    assert {each.server for each in lab.reported(Committed)} == {lab.primary}
    orders = [
        [each.event.sn for each in lab.reported(Applied) if each.server == name]  # type: ignore[union-attr]
        for name in (lab.primary, *lab.secondaries)
    ]
    assert all(order == sorted(order) and order[-1] == orders[0][-1] for order in orders)


def test_metadata_replication_secondaries_hold_the_same_state_for_the_same_number() -> None:
    """Secondaries apply results; they compute none again."""
    lab = Lab(1)
    for number in range(8):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.run_ms(100)
    digests: dict[int, set[int]] = {}
    for each in lab.reported(Applied):
        digests.setdefault(each.event.sn, set()).add(each.event.digest)  # type: ignore[union-attr]
    assert len(digests) > 8 and all(len(each) == 1 for each in digests.values())


def test_metadata_replication_takes_no_word_between_secondaries() -> None:
    lab = Lab(1)
    said = Said(lab.cluster)
    for number in range(8):
        lab.ada.call(Mkdir(f"/d{number}"))
    pairs = {(sent.sender, sent.receiver) for sent in said.of(Accept, Accepted, Success)}
    assert pairs and all(lab.primary in pair for pair in pairs)


def test_metadata_replication_the_client_is_answered_when_every_secondary_has_it() -> None:
    lab = Lab(1)
    lab.ada.call(Mkdir("/a"))
    last = lab.secondaries[-1]
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is Success and receiver == last)
    task = lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(lambda: bool(held.messages), SECOND)
    lab.run_ms(20)
    assert not task.done()
    held.release()
    lab.cluster.run_until(task.done, SECOND)
    assert task.result().error == ""


def test_consensus_of_replicas_takes_two_rounds_while_the_primary_stays() -> None:
    lab = Lab(1)
    said = Said(lab.cluster)
    for number in range(5):
        lab.ada.call(Mkdir(f"/d{number}"))
    assert not said.of(PaxosPrepare) and said.of(Accept) and said.of(Success)


def test_packed_multi_paxos_packs_what_is_there_under_load() -> None:
    lab = Lab(1)
    lab.ada.call(Mkdir("/a"))
    said = Said(lab.cluster)
    tasks = [lab.begin(lab.ada, Mkdir(f"/d{number}")) for number in range(20)]
    lab.cluster.run_until(lambda: all(task.done() for task in tasks), SECOND)
    assert max(records(said)) >= 10


def test_packed_multi_paxos_sends_a_single_record_at_once() -> None:
    """The packer waits neither for a time nor for a number of records."""
    lab = Lab(1)
    lab.ada.call(Mkdir("/a"))
    said = Said(lab.cluster)
    began_ns = lab.cluster.now_ns
    lab.ada.call(Mkdir("/b"))
    assert records(said) == [1] and lab.cluster.now_ns - began_ns < 0.005 * SECOND


def test_multi_paxos_without_packing_sends_every_record_in_a_message_of_its_own() -> None:
    lab = Lab(1, protocol="multi-paxos")
    lab.ada.call(Mkdir("/a"))
    said = Said(lab.cluster)
    tasks = [lab.begin(lab.ada, Mkdir(f"/d{number}")) for number in range(20)]
    lab.cluster.run_until(lambda: all(task.done() for task in tasks), SECOND)
    assert set(records(said)) == {1} and len(records(said)) >= 20


def test_pcq_a_read_at_a_secondary_waits_behind_the_writes_before_it() -> None:
    lab = Lab(1)
    lab.ada.call(Mkdir("/a"))
    lab.run_ms(500)
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is Success)
    write = lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(lambda: len(held.messages) >= 2, SECOND)
    reads = [lab.begin(lab.eve, Stat("/b")) for _ in range(3)]
    lab.run_ms(10)
    said = Said(lab.cluster)
    held.release()
    lab.cluster.run_until(lambda: write.done() and all(read.done() for read in reads), 5 * SECOND)
    answered = [sent for sent in said.of(Answer) if sent.receiver == "eve"]
    assert {sent.sender for sent in answered} & {*lab.secondaries}
    assert [read.exception() for read in reads] == [None] * 3


def test_recovery_a_secondary_that_fails_leaves_the_view_and_work_goes_on() -> None:
    lab = Lab(1)
    lab.faults.crash(lab.secondaries[0])
    task = lab.begin(lab.ada, Mkdir("/a"))
    lab.cluster.run_until(task.done, 10 * SECOND)
    assert task.result().error == "" and not [
        each
        for each in lab.reported(Called)
        if each.event.error  # type: ignore[union-attr]
    ]


def holders(each: Stamped) -> set[str]:
    event = each.event
    assert isinstance(event, Committed)
    return set(event.holders)


@pytest.mark.parametrize("lost", [Accepted, Success])
def test_recovery_what_may_have_been_accepted_is_carried_on_by_the_new_primary(lost: type) -> None:
    """Whether the secondaries have its slot in the state Accept or Success, the write is there afterwards, once."""
    lab = Lab(1)
    lab.ada.call(Mkdir("/a"))
    old = lab.primary
    held = lab.cluster.hold(
        lambda sender, receiver, message: type(message) is lost and old in (sender, receiver)
    )
    task = lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(lambda: len(held.messages) >= 2, SECOND)
    lab.faults.crash(old)
    held.drop()
    lab.await_next_primary()
    lab.cluster.run_until(task.done, 20 * SECOND)
    assert task.result().error == "" and lab.eve.call(Stat("/b")).error == ""
    steps = [each.event.step for each in lab.reported(StepTaken) if each.event.procedure == "upgrade"]  # type: ignore[union-attr]
    assert steps[-4:] == ["1", "2", "3", "4"]


@pytest.mark.parametrize("seed", range(1, 17))
def test_recovery_the_secondary_with_the_largest_accepted_number_becomes_primary(seed: int) -> None:
    lab = Lab(seed)
    lab.ada.call(Mkdir("/a"))
    old, behind = lab.primary, lab.secondaries[0]
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is Accept and receiver == behind)
    said = Said(lab.cluster)
    task = lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(lambda: bool(said.of(Accepted)), SECOND)
    lab.faults.crash(old)
    held.drop()
    lab.await_next_primary()
    assert lab.primary == said.of(Accepted)[0].sender != behind
    lab.cluster.run_until(task.done, 20 * SECOND)
    assert task.result().error == "" and lab.eve.call(Stat("/b")).error == ""
