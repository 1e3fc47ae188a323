"""The next active dies at each step of its takeover, and journal nodes while they are queried (CFS §2.2, §4.1.2)."""

from __future__ import annotations

import pytest

from nodes.families import family_named
from nodes.wire.journal_messages import (
    AddEntry,
    EntriesRead,
    EntryAdded,
    EpochPromised,
    FinishSegment,
    JournalWritten,
    NewEpoch,
    ReadEntries,
    SegmentFinished,
    StartSegment,
    WriteJournal,
)  # fmt: skip
from nodes.wire.messages import Message
from tests.simulation.baselines.lab import SHARED, lab_of
from tests.simulation.mams.lab import Lab
from tests.simulation.striking import Blow, goes_on, works

STEPS = ("1", "2", "3", "4")
UPGRADE = ("1", "2", "3", "3b", "4", "5", "6", "7")
QUORUM = (NewEpoch, EpochPromised, FinishSegment, SegmentFinished, StartSegment, WriteJournal, JournalWritten)
LEDGERS = (ReadEntries, EntriesRead, AddEntry, EntryAdded)
NODES = [*((name, kind) for name in ("qjm", "hadoop-ha") for kind in QUORUM), *(("bookkeeper", kind) for kind in LEDGERS)]  # fmt: skip


def at_work(protocol: str, standbys: int) -> Lab:
    lab = lab_of(protocol, 1, standbys=standbys)
    works(lab)
    return lab


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("protocol", SHARED)
def test_the_next_active_at_a_step_of_its_takeover(protocol: str, step: str) -> None:
    lab = at_work(protocol, 2)
    blow = Blow(lab, "power_loss").at_step("upgrade", step, lambda name: [name])
    lab.faults.crash(lab.active)
    blow.await_it()
    goes_on(lab)


@pytest.mark.parametrize("step", UPGRADE)
def test_the_next_active_of_two_phase_commit(step: str) -> None:
    lab = at_work("2pc", 3)
    blow = Blow(lab).at_step("upgrade", step, lambda name: [name])
    lab.faults.crash(lab.active)
    blow.await_it()
    goes_on(lab)


@pytest.mark.parametrize("end", ["the node", "the server"])
@pytest.mark.parametrize(("protocol", "kind"), NODES)
def test_at_a_message_of_a_takeover(protocol: str, kind: type[Message], end: str) -> None:
    lab = at_work(protocol, 2)
    nodes, old = family_named(protocol).journal_names(), lab.active

    def victim(sender: str, receiver: str, message: Message) -> str:
        """Replies to the old active's last write may still be on their way; they are not part of the takeover."""
        if type(message) is not kind or old in (sender, receiver):
            return ""
        node, server = (sender, receiver) if sender in nodes else (receiver, sender)
        return node if end == "the node" else server

    lab.faults.crash(old)
    blow = Blow(lab).at_message(victim)
    blow.await_it()
    goes_on(lab)
