"""Messages without effect in any family: of other views, ballots, epochs and ledgers, of unknown peers, of expelled members, of joiners with
another configuration, and duplicate calls. Each causes an event, none a crash, and service continues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from nodes.config import JournalConfig
from nodes.families import family_named
from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.mams.messages import DecisionLogged, Mismatch, Prepare, Prepared
from nodes.protocols.paxos import messages as p
from nodes.protocols.symmetric import messages as s
from nodes.trace.events import Ignored, Warned
from nodes.units import DiskId
from nodes.wire.journal_messages import (
    AddEntry,
    EntryAdded,
    HigherEpoch,
    JournalWritten,
    LedgerFenced,
    OutOfStep,
    SegmentFinished,
    WriteJournal,
)  # fmt: skip
from nodes.wire.messages import Answer, Mark, Message, Request
from tests.simulation.mams.lab import Lab

OTHER = 99
NOWHERE = Mark(0, 1, 1 << 40, 7)
FIFTH = Mark(0, 1, 5, 7)
OWN = DiskId(7)
Sent = list[tuple[str, str, Message]]
"""Sender, receiver, message."""


def lab_of(protocol: str, seed: int = 3) -> Lab:
    journal = JournalConfig(nodes=family_named(protocol).journal_names())
    lab = Lab(seed, standbys=2, protocol=protocol, journal=journal)
    assert lab.ada.call(Mkdir("/before")).error == ""
    return lab


def leader_of(lab: Lab) -> str:
    return next(name for name, letter in lab.cluster.view().items() if letter in "APM")


def others_of(lab: Lab) -> list[str]:
    return [name for name in lab.cluster.view() if name != leader_of(lab)]


def epoch_of(lab: Lab) -> int:
    return int(lab.serving()[-1].event.epoch)  # type: ignore[union-attr]


def of_symmetric(lab: Lab) -> Sent:
    leader, other, view = leader_of(lab), others_of(lab)[0], epoch_of(lab)
    numbered = s.Numbered(1, 1, 1, [0, 0, 0], 0, [])
    return [
        (other, leader, s.Broadcast(OTHER, numbered, FIFTH)),
        (other, leader, s.Held(OTHER, FIFTH)),
        (other, leader, s.Missing(OTHER, 1)),
        (other, leader, s.Alive(OTHER, 1, 1, False, [0, 0, 0], FIFTH, [], False)),
        (others_of(lab)[1], leader, s.Alive(view, 1, 1, False, [0], FIFTH, [], False)),
        ("mds9", leader, s.Held(view, NOWHERE)),
        ("mds9", leader, s.Broadcast(view, numbered, FIFTH)),
        (other, leader, s.Flushed(OTHER, 0, [], True, (0, 0), [], [], OWN)),
        (other, leader, s.Settled(OTHER, 0, NOWHERE, True)),
    ]


def of_paxos(lab: Lab) -> Sent:
    leader, other, ballot = leader_of(lab), others_of(lab)[0], epoch_of(lab)
    return [
        (other, leader, p.Accepted(OTHER, 1 << 40, 1 << 40)),
        ("mds9", leader, p.Accepted(ballot, 1 << 40, 1 << 40)),
        (other, leader, p.PaxosPromise(OTHER, 0, 0, 1, 0, [])),
        (other, leader, p.AskLease(OTHER, 0, 0)),
        ("mds9", leader, p.AskLease(ballot, 1 << 60, 0)),
        ("mds9", leader, p.PaxosJoin(ballot, 0)),
        (other, leader, p.PaxosJoin(ballot, 1 << 63)),
        (leader, other, p.LeaseGranted(OTHER, 1 << 60, 1 << 60)),
        ("mds9", other, p.LeaseGranted(ballot, 1 << 60, 1 << 60)),
        ("mds9", other, p.Accept(0, 0, 1, [])),
        ("mds9", other, p.Success(0, 1 << 40)),
        ("mds9", other, p.Accepted(ballot, 1, 1)),
    ]


def of_qjm(lab: Lab) -> Sent:
    leader, other, epoch = leader_of(lab), others_of(lab)[0], epoch_of(lab)
    return [
        ("jn1", leader, JournalWritten(OTHER, NOWHERE)),
        ("mds9", leader, JournalWritten(epoch, NOWHERE)),
        ("jn1", other, JournalWritten(epoch, NOWHERE)),
        ("jn2", leader, OutOfStep(OTHER, 1)),
        ("jn2", leader, SegmentFinished(OTHER, NOWHERE)),
        ("jn2", leader, HigherEpoch(0)),
        (other, "jn1", WriteJournal(1, 0, 0, NOWHERE, b"")),
    ]


def of_bookkeeper(lab: Lab) -> Sent:
    leader, other = leader_of(lab), others_of(lab)[0]
    return [
        ("bookie1", leader, EntryAdded(OTHER, 1)),
        ("bookie1", leader, LedgerFenced(OTHER)),
        ("mds9", leader, EntryAdded(1, 1 << 40)),
        ("bookie1", other, EntryAdded(1, 1)),
    ]


def of_2pc(lab: Lab) -> Sent:
    leader, other, epoch = leader_of(lab), others_of(lab)[0], epoch_of(lab)
    return [
        (other, leader, Prepared(OTHER, NOWHERE)),
        (other, leader, Mismatch(OTHER, 1, [])),
        (other, leader, DecisionLogged(OTHER, 1)),
        ("mds9", leader, Prepared(epoch, NOWHERE)),
        ("mds9", leader, DecisionLogged(epoch, 1)),
        (others_of(lab)[1], leader, DecisionLogged(epoch, 1 << 40)),
        ("mds9", other, Prepare(0, 0, NOWHERE, [])),
    ]


WORDS: dict[str, Callable[[Lab], Sent]] = {
    "symmetric": of_symmetric,
    "packed-paxos": of_paxos,
    "multi-paxos": of_paxos,
    "qjm": of_qjm,
    "bookkeeper": of_bookkeeper,
    "2pc": of_2pc,
}


def ignored(lab: Lab, receiver: str, sender: str, kind: str) -> list[str]:
    reported = [s.event for s in lab.cluster.events if s.server == receiver and isinstance(s.event, Ignored)]
    return [event.reason for event in reported if (event.sender, event.kind) == (sender, kind)]


def good(lab: Lab, name: str) -> None:
    assert lab.ada.call(Mkdir(name)).error == ""
    assert lab.eve.call(Stat("/before")).error == ""
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", WORDS)
def test_words_of_others_are_ignored_with_an_event(protocol: str) -> None:
    lab = lab_of(protocol)
    for sender, receiver, message in WORDS[protocol](lab):
        lab.cluster.net.carry(sender, receiver, [message])
        lab.run_ms(50)
        reasons = ignored(lab, receiver, sender, type(message).__name__)
        assert reasons, f"{receiver} says nothing of {message} from {sender}"
        lab.run_ms(1_000)
    good(lab, "/after")


def late_word(protocol: str, was: str, epoch: int, lab: Lab) -> tuple[str, Message]:
    """Receiver and content of a late message that an expelled server sends for its old tenure or view."""
    leader, other = leader_of(lab), next(name for name in others_of(lab) if name != was)
    if protocol == "symmetric":
        return other, s.Held(epoch, NOWHERE)
    if protocol in ("packed-paxos", "multi-paxos"):
        return leader, p.Accept(epoch, 0, 1, [])
    if protocol == "qjm":
        return "jn1", WriteJournal(1, epoch, 0, NOWHERE, b"")
    if protocol == "bookkeeper":
        ledgers = msgspec.json.decode(lab.cluster.ensemble.tree.nodes["/cloverlab/groups/g1/ledgers"].data)
        first = ledgers["ledgers"][0]["fragments"][0]["bookies"][0]
        return first, AddEntry(1, 1 << 40, 0, False, b"")
    return other, Prepare(epoch, 0, NOWHERE, [])


@pytest.mark.parametrize("protocol", WORDS)
def test_whoever_was_expelled_is_ignored_with_an_event(protocol: str) -> None:
    lab = lab_of(protocol)
    was, epoch = leader_of(lab), epoch_of(lab)
    lab.faults.crash(was)
    lab.await_next_active()
    lab.run_ms(1_000)
    receiver, message = late_word(protocol, was, epoch, lab)
    receivers = family_named(protocol).journal_names() if receiver == "bookie1" else [receiver]
    for each in receivers:
        lab.cluster.net.carry(was, each, [message])
    lab.run_ms(200)
    reported = [ignored(lab, each, was, type(message).__name__) for each in receivers]
    assert sum(map(bool, reported)) * 2 > len(receivers)  # a ledger is fenced at a majority of its bookies
    good(lab, "/after")


@pytest.mark.parametrize("protocol", WORDS)
def test_words_of_another_family_are_an_event(protocol: str) -> None:
    """A server with another configuration sends such messages."""
    lab = lab_of(protocol)
    foreign: list[Message] = [
        s.JoinView(0, [], [], "", OWN), p.PaxosJoin(1, 1), Prepared(1, NOWHERE), JournalWritten(1, NOWHERE), EntryAdded(1, 1)
    ]  # fmt: skip
    for receiver in [*lab.cluster.view(), *lab.cluster.config.journal.nodes]:
        lab.cluster.net.carry("mds9", receiver, foreign)
    lab.run_ms(1_000)
    warned = [each.event.what for each in lab.cluster.events if isinstance(each.event, Warned)]
    assert sum("mds9 sent a" in what and "does not take" in what for what in warned) >= 3
    good(lab, "/after")


def test_a_joiner_of_other_rules_stays_outside_the_symmetric_view() -> None:
    lab = lab_of("symmetric")
    lab.cluster.config = msgspec.structs.replace(lab.cluster.config, order="plain")
    lab.faults.add_server("g1")
    lab.run_ms(10_000)
    assert lab.cluster.view()["mds4"] == "J"
    assert "order plain" in ignored(lab, "mds1", "mds4", "JoinView")[-1]
    assert lab.ada.call(Mkdir("/after")).error == ""
    assert lab.broken() == {}


def test_a_secondary_counts_a_lease_no_longer_than_its_primary() -> None:
    """A joiner receives longer lease times: the granted length is the primary's."""
    lab = lab_of("packed-paxos")
    timing = msgspec.structs.replace(lab.cluster.config.timing, ack_timeout_ms=1_500)
    lab.cluster.config = msgspec.structs.replace(lab.cluster.config, timing=timing)
    lab.faults.add_server("g1")
    granted: list[Message] = []

    def seen(sender: str, receiver: str, message: Message) -> bool:
        if receiver == "mds4" and isinstance(message, p.LeaseGranted):
            granted.append(message)
        return False

    lab.cluster.hold(seen)
    lab.cluster.run_until(lambda: lab.cluster.view().get("mds4") == "S" and bool(granted))
    assert {message.length_ns for message in granted if isinstance(message, p.LeaseGranted)} == {500_000_000}
    good(lab, "/after")


@pytest.mark.parametrize("protocol", WORDS)
def test_a_call_that_comes_twice_is_carried_out_once(protocol: str) -> None:
    """The same number again, at the server that was asked first and at all others."""
    lab = lab_of(protocol)
    calls: list[Request] = []
    answers: list[Any] = []

    def seen(sender: str, receiver: str, message: Message) -> bool:
        if sender == "ada" and isinstance(message, Request) and isinstance(message.operation, Mkdir):
            calls.append(message)
        if receiver == "ada" and isinstance(message, Answer) and calls and message.number == calls[0].number:
            answers.append(message)
        return False

    lab.cluster.hold(seen)
    assert lab.ada.call(Mkdir("/once")).error == ""
    for receiver in lab.cluster.view():
        lab.cluster.net.carry("ada", receiver, [calls[0]])
        lab.run_ms(500)
    assert len(answers) >= 2
    assert {(each.error, str(each.result)) for each in answers} == {("", str(answers[0].result))}
    good(lab, "/after")
