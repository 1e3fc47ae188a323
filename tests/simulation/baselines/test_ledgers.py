"""BookKeeper's three quorum sizes: entries are striped, acknowledged by a part of their write set, and found again by the server that closes the
ledger."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from nodes.metadata.operations import Mkdir, Stat
from nodes.trace.events import Committed
from nodes.wire.journal_messages import AddEntry, EntriesRead, EntryAdded, ReadEntries
from nodes.wire.messages import Message
from tests.simulation.baselines.lab import lab_of, ledgers_on
from tests.simulation.baselines.test_life import make
from tests.simulation.mams.lab import Lab
from tests.simulation.striking import Blow, goes_on, works

NUMBERS = [(4, 3, 3, 3), (3, 3, 3, 2), (5, 5, 3, 2), (5, 4, 2, 2), (5, 5, 5, 3), (4, 3, 2, 1)]
"""Bookies, ensemble, write quorum, acknowledgement quorum."""
Numbers = tuple[int, int, int, int]


def lab_with(numbers: Numbers, seed: int, **settings: Any) -> Lab:
    return lab_of("bookkeeper", seed, journal=ledgers_on(*numbers), **settings)


@pytest.mark.parametrize("numbers", NUMBERS)
def test_entries_are_spread_over_the_ensemble(numbers: Numbers) -> None:
    _, ensemble, write, _ = numbers
    lab = lab_with(numbers, 1)
    sent: Counter[int] = Counter()
    bookies: set[str] = set()

    def count(sender: str, receiver: str, message: Message) -> bool:
        if type(message) is AddEntry:
            sent[message.sn] += 1
            bookies.add(receiver)
        return False

    lab.cluster.hold(count)
    make(lab, *(f"/{number}" for number in range(12)))
    lab.run_ms(500)
    assert set(sent.values()) == {write} and len(bookies) == ensemble
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("numbers", NUMBERS)
def test_the_active_and_a_bookie_die_at_once(numbers: Numbers, seed: int) -> None:
    lab = lab_with(numbers, seed)
    make(lab, *(f"/{number}" for number in range(10)))
    lab.faults.power_loss(lab.active)
    lab.faults.power_loss("bookie2")
    lab.run_ms(7_000)
    lab.mend()
    for number in range(10):
        lab.eve.call(Stat(f"/{number}"))
    make(lab, "/after")
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("numbers", [(3, 3, 3, 2), (5, 5, 3, 2)])
def test_an_acknowledgement_quorum_is_enough(numbers: Numbers) -> None:
    """No bookie can replace the silent one, and no write waits for it."""
    lab = lab_with(numbers, 2)
    make(lab, "/a")
    lab.faults.pause("bookie1")
    began_ns = lab.cluster.loop.now_ns
    make(lab, *(f"/a{number}" for number in range(20)))
    assert lab.cluster.loop.now_ns - began_ns < 400_000_000
    lab.run_ms(3_000)
    make(lab, "/b")
    holders = [s.event.holders for s in lab.cluster.events if type(s.event) is Committed]
    assert all(len(set(each) & set(lab.cluster.config.journal.nodes)) >= 2 for each in holders)
    lab.faults.resume("bookie1")
    lab.faults.crash(lab.active)
    for path in ("/a", "/a0", "/a19", "/b"):
        lab.eve.call(Stat(path))
    lab.finish()
    assert lab.broken() == {}


def test_with_everybody_to_acknowledge_a_silent_bookie_is_waited_for() -> None:
    lab = lab_with((3, 3, 3, 3), 3)
    make(lab, "/a")
    lab.faults.pause("bookie1")
    waiting = lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(400)
    assert not waiting.done()
    lab.finish()
    assert waiting.exception() is None and lab.broken() == {}


def test_a_bookie_that_has_left_the_ensemble_is_sent_its_entries_no_more() -> None:
    """Entries that are confirmed without it are less late than the one for which it is replaced."""
    lab = lab_with((4, 3, 3, 2), 1)
    sent: list[str] = []

    def note(sender: str, receiver: str, message: Message) -> bool:
        if type(message) is AddEntry:
            sent.append(receiver)
        return False

    lab.cluster.hold(note)
    make(lab, "/a")
    away = min(sent)
    lab.faults.pause(away)
    for number in range(60):
        make(lab, f"/b{number}")
        lab.run_ms(20)
    lab.run_ms(3_000)
    sent.clear()
    lab.faults.resume(away)
    lab.run_ms(10_000)
    assert sent == []
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("numbers", [(6, 5, 3, 2), (4, 3, 3, 2)])
@pytest.mark.parametrize("kind", [ReadEntries, EntriesRead, AddEntry, EntryAdded])
@pytest.mark.parametrize("end", ["the bookie", "the server"])
def test_at_a_message_of_a_takeover(numbers: Numbers, kind: type[Message], end: str) -> None:
    lab = lab_with(numbers, 1, standbys=2)
    works(lab)
    bookies, old = lab.cluster.config.journal.nodes, lab.active

    def victim(sender: str, receiver: str, message: Message) -> str:
        if type(message) is not kind or receiver == old:
            return ""
        bookie, server = (sender, receiver) if sender in bookies else (receiver, sender)
        return bookie if end == "the bookie" else server

    lab.faults.crash(old)
    blow = Blow(lab).at_message(victim)
    blow.await_it()
    goes_on(lab)
