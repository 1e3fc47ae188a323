"""Messages that change a journal, by servers that do not write its epoch."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.mams.messages import Commit, CommitDecision, Prepare, Recover, Renew
from nodes.replicas.log import encode_group
from nodes.trace.events import Committed, Durable
from nodes.wire.journal_messages import FinishSegment, PruneJournal, StartSegment, WriteJournal
from nodes.wire.messages import JournalGroup, Mark, Message
from tests.simulation.mams.lab import Lab
from tests.simulation.sim.test_bad_input import good, ignored, lab_of, leader_of, others_of


def ends(lab: Lab, member: str) -> tuple[Mark, Mark]:
    """The last two groups of a member's journal."""
    durable = [
        each.event for each in lab.cluster.events if each.server == member and type(each.event) is Durable
    ]
    before, last = (Mark(0, each.epoch, each.sn, each.crc) for each in durable[-2:])
    return before, last


def forged(lab: Lab, member: str) -> list[Message]:
    """They replace the member's last group by an empty one, or let it cut its journal."""
    before, last = ends(lab, member)
    group = JournalGroup(last.sn, 1 << 20, last.epoch, 0, before, last.sn, 1, [])
    return [
        Prepare(last.epoch, last.sn, before, [encode_group(group)[0]]),
        Recover(last.epoch),
        Commit(last.epoch, last.sn + 1),
        CommitDecision(last.epoch, last),
        Renew(last.epoch, 0, last.sn, ["stranger"], False),
    ]


@pytest.mark.parametrize("sender", ["stranger", "dn1", "OTHER"])
@pytest.mark.parametrize("protocol", ["mams", "2pc"])
def test_only_the_writer_of_the_epoch_changes_a_journal(protocol: str, sender: str) -> None:
    lab = lab_of(protocol)
    assert lab.ada.call(Mkdir("/written")).error == ""
    lab.run_ms(1_000)
    member, other = others_of(lab)
    sender = sender.replace("OTHER", other)
    for message in forged(lab, member):
        lab.cluster.net.carry(sender, member, [message])
        lab.run_ms(200)
        assert ignored(lab, member, sender, type(message).__name__), message
    lab.faults.crash(other)
    lab.faults.crash(leader_of(lab))
    lab.run_ms(3_000)
    lab.faults.restart(other)
    lab.run_ms(5_000)
    assert lab.eve.call(Stat("/written")).error == ""
    good(lab, "/after")


@pytest.mark.parametrize("protocol", ["qjm", "hadoop-ha"])
def test_only_the_writer_of_the_epoch_writes_at_a_journal_node(protocol: str) -> None:
    """They finish a segment that is not finished, and write the next group before its writer does."""
    lab = lab_of(protocol)
    assert lab.ada.call(Mkdir("/written")).error == ""
    lab.run_ms(1_000)
    node = lab.cluster.config.journal.nodes[0]
    stored = [each.event for each in lab.cluster.events if type(each.event) is Committed][-1]
    last = Mark(0, stored.epoch, stored.sn, stored.crc)
    group, _ = encode_group(JournalGroup(last.sn + 1, 1 << 20, last.epoch, 0, last, last.sn, 1, []))
    others = ["stranger", *others_of(lab)]
    for sender in others:
        for message in (
            FinishSegment(1, last.epoch, last),
            StartSegment(1, last.epoch, last),
            WriteJournal(1, last.epoch, last.sn + 9, last, group),
            PruneJournal(1, last.epoch, last.sn),
        ):
            lab.cluster.net.carry(sender, node, [message])
            lab.run_ms(50)
            assert ignored(lab, node, sender, type(message).__name__), message
    assert lab.ada.call(Mkdir("/next")).error == ""
    lab.faults.crash(leader_of(lab))
    good(lab, "/after")
