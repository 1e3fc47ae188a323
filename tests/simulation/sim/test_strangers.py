"""Messages of an unknown peer with the cluster's token to servers of each family: none of them ends the service."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import Mkdir
from nodes.protocols.mams.messages import Prepare, Recover
from nodes.protocols.paxos import messages as p
from nodes.protocols.paxos.ballot import BALLOT_MAX
from nodes.protocols.symmetric import messages as s
from nodes.replicas.log import NOTHING
from nodes.trace.events import Committed, Durable, Ignored, StepTaken, Warned
from nodes.trace.journal_events import WriterFenced
from nodes.wire.journal_messages import AddEntry, NewEpoch, ReadEntries
from nodes.wire.messages import Mark, Message
from tests.simulation.mams.lab import Lab
from tests.simulation.sim.test_bad_input import (
    NOWHERE,
    OWN,
    epoch_of,
    good,
    ignored,
    lab_of,
    leader_of,
    others_of,
)  # fmt: skip


def symmetric_view(lab: Lab) -> list[str]:
    return [each.event.detail for each in lab.cluster.events if type(each.event) is StepTaken and each.event.step == "install"]  # fmt: skip


def test_a_unknown_peer_is_not_taken_into_the_symmetric_view() -> None:
    """It sends all messages that a joiner would; only a registered server of the group may join."""
    lab = lab_of("symmetric")
    views, view = symmetric_view(lab), epoch_of(lab)
    rules = "order fast, leases of 500 ms, holes none"
    join = s.JoinView(view, [NOTHING], list(lab.cluster.view()), rules, OWN)
    for _ in range(20):
        for receiver in lab.cluster.view():
            lab.cluster.net.carry("stranger", receiver, [join])
        lab.run_ms(50)
    assert symmetric_view(lab) == views
    assert "not registered" in ignored(lab, "mds1", "stranger", "JoinView")[0]
    good(lab, "/after")


@pytest.mark.parametrize(("sender", "attempt"), [("stranger", 2), ("stranger", 1 << 63), ("mds2", 1 << 63)])
def test_a_flush_that_cannot_be_stops_no_member(sender: str, attempt: int) -> None:
    lab = lab_of("symmetric")
    for kind in (s.Flush(1, attempt, epoch_of(lab), 3), s.Settle(2, attempt, NOTHING, [], NOTHING, True)):
        for receiver in lab.cluster.view():
            lab.cluster.net.carry(sender, receiver, [kind])
        lab.run_ms(50)
        assert ignored(lab, "mds1", sender, type(kind).__name__)
    good(lab, "/after")
    lab.faults.crash("mds1")
    assert lab.eve.call(Mkdir("/later")).error == ""


@pytest.mark.parametrize("ballot", [2, BALLOT_MAX, 1 << 63])
@pytest.mark.parametrize("kind", ["PaxosPrepare", "Accept", "Success", "Outbid"])
def test_a_unknown_peer_speaks_of_no_ballot(kind: str, ballot: int) -> None:
    """No server makes it a promise: the primary stays, and there are ballots left for the next one."""
    lab = lab_of("packed-paxos")
    words: dict[str, Message] = {
        "PaxosPrepare": p.PaxosPrepare(ballot, 1),
        "Accept": p.Accept(ballot, 0, 1, []),
        "Success": p.Success(ballot, 0),
        "Outbid": p.Outbid(ballot),
    }
    served = len(lab.serving())
    for receiver in lab.cluster.view():
        lab.cluster.net.carry("stranger", receiver, [words[kind]])
    lab.run_ms(1_000)
    assert ignored(lab, leader_of(lab), "stranger", kind) and len(lab.serving()) == served
    lab.faults.crash(leader_of(lab))
    good(lab, "/after")


@pytest.mark.parametrize("kind", [p.PaxosPrepare, p.Success])
def test_one_word_of_a_member_does_not_use_up_all_ballots(kind: type[Message]) -> None:
    lab = lab_of("packed-paxos")
    for receiver in lab.cluster.view():
        lab.cluster.net.carry("mds2", receiver, [kind(BALLOT_MAX, 1)])  # type: ignore[call-arg]
    lab.run_ms(1_000)
    assert "which cannot be" in str(
        [each.event.what for each in lab.cluster.events if type(each.event) is Warned]
    )
    lab.faults.crash(leader_of(lab))
    good(lab, "/after")


@pytest.mark.parametrize("epoch", [60_000, 1 << 32, 1 << 63])
@pytest.mark.parametrize("protocol", ["qjm", "hadoop-ha", "avatar"])
def test_an_epoch_that_nobody_writes_in_ends_no_service(protocol: str, epoch: int) -> None:
    """A journal node that believes it reports its epoch to the next writer, which goes above it; an impossible epoch is not believed."""
    lab = lab_of(protocol)
    for node in lab.cluster.config.journal.nodes:
        lab.cluster.net.carry("stranger", node, [NewEpoch(1, epoch)])
    lab.run_ms(1_000)
    reported = [each.event for each in lab.cluster.events if isinstance(each.event, Warned | WriterFenced)]
    assert "stranger speaks of epoch" in str(reported) or WriterFenced(epoch) in reported
    good(lab, "/after")


@pytest.mark.parametrize("epoch", [60_000, 1 << 63])
@pytest.mark.parametrize("kind", ["Prepare", "Recover"])
def test_an_epoch_that_nobody_took_the_lock_for_ends_no_service(kind: str, epoch: int) -> None:
    lab = lab_of("2pc")
    word = Prepare(epoch, 0, NOWHERE, []) if kind == "Prepare" else Recover(epoch)
    for receiver in lab.cluster.view():
        lab.cluster.net.carry("stranger", receiver, [word])
    lab.run_ms(1_000)
    good(lab, "/after")
    lab.faults.crash(leader_of(lab))
    good(lab, "/later")


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (AddEntry(1, 1, 0, False, b"none"), "is written by"),
        (AddEntry(1, 1, 0, True, b"none"), "has another entry 1"),
        (AddEntry(1, 1, 1 << 63, True, b"none"), "cannot be"),
        (AddEntry(1, 0, -1, True, b""), "cannot be"),
    ],
)
def test_what_is_no_entry_of_a_ledger_takes_the_place_of_none(entry: AddEntry, reason: str) -> None:
    lab = lab_of("bookkeeper")
    holders = [each.event for each in lab.cluster.events if type(each.event) is Committed][-1].holders
    bookie = next(name for name in holders if name in lab.cluster.config.journal.nodes)
    for name in lab.cluster.config.journal.nodes:
        lab.cluster.net.carry("stranger", name, [entry])
    lab.run_ms(500)
    assert reason in ignored(lab, bookie, "stranger", "AddEntry")[0]
    lab.faults.crash(leader_of(lab))
    good(lab, "/after")


def test_an_entry_that_is_there_is_not_written_again_by_whoever_closes_the_ledger() -> None:
    lab = lab_of("bookkeeper")
    for name in lab.cluster.config.journal.nodes:
        lab.cluster.net.carry("stranger", name, [ReadEntries(1, 1, 0, 0, True), AddEntry(1, 1, 0, True, b"none")])  # fmt: skip
    lab.run_ms(1_000)
    reasons = [each.event.reason for each in lab.cluster.events if type(each.event) is Ignored]
    assert "ledger 1 has another entry 1" in reasons
    good(lab, "/after")


def test_the_writer_of_a_ledger_takes_its_place_back() -> None:
    """Another writer was faster with an entry that no server knows to be confirmed."""
    lab = lab_of("bookkeeper")
    newest = max(each.event.sn for each in lab.cluster.events if type(each.event) is Committed)
    for name in lab.cluster.config.journal.nodes:
        lab.cluster.net.carry("stranger", name, [AddEntry(1, newest + 1, 0, True, b"none")])
    lab.run_ms(500)
    assert lab.ada.call(Mkdir("/mine")).error == ""
    lab.faults.crash(leader_of(lab))
    good(lab, "/after")


def test_a_group_that_is_none_is_an_event() -> None:
    lab = lab_of("2pc")
    receiver = others_of(lab)[0]
    last = [each.event for each in lab.cluster.events if each.server == receiver and type(each.event) is Durable][-1]  # fmt: skip
    mark = Mark(0, last.epoch, last.sn, last.crc)
    lab.cluster.net.carry(leader_of(lab), receiver, [Prepare(last.epoch, 0, mark, [b"no group"])])
    lab.run_ms(1_000)
    warned = [each.event.what for each in lab.cluster.events if type(each.event) is Warned]
    assert any("a group that is none" in what for what in warned)
    good(lab, "/after")
