"""Disk reads of a pool node for a junior that fetches its journal."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import Mkdir
from nodes.protocols.mams import pool_node, renewal
from nodes.protocols.mams.messages import FetchGroups, Groups
from nodes.sim.disk import SimDisk
from nodes.storage import journal_file
from nodes.storage.records import OVERHEAD
from tests.simulation.mams.lab import Lab


def test_every_answer_reads_what_it_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gap that takes many answers: none of them reads the rest of the gap."""
    monkeypatch.setattr(renewal, "DIRECT_GAP", 8)
    monkeypatch.setattr(pool_node, "FETCHED_BYTES", 2_000)
    monkeypatch.setattr(journal_file, "RECENT", 4)
    read: list[int] = []
    answers: list[tuple[int, int, int]] = []
    whole = SimDisk.read

    def counted(disk: SimDisk, path: str, offset: int = 0, length: int | None = None) -> bytes:
        data = whole(disk, path, offset, length)
        read.append(len(data))
        return data

    def look(sender: str, receiver: str, message: object) -> bool:
        if type(message) is Groups:
            answers.append((sum(map(len, message.groups)), len(message.groups), sum(read)))
        elif type(message) is FetchGroups:
            read.clear()
        return False

    monkeypatch.setattr(SimDisk, "read", counted)
    lab = Lab(1, image_every=0)
    junior = lab.standbys[0]
    lab.faults.crash(junior)
    for number in range(150):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.cluster.hold(look)
    lab.faults.restart(junior)
    lab.cluster.run_until(lambda: lab.cluster.view()[junior] == "J")
    lab.cluster.run_until(lambda: lab.cluster.view()[junior] == "S")
    assert len(answers) > 5
    for sent, groups, was_read in answers:
        assert 0 < was_read <= sent + OVERHEAD * groups
    lab.finish()
    assert lab.broken() == {}
