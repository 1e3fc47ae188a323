"""A group without servers delays only the operations that it shares."""

from __future__ import annotations

import asyncio
from typing import Any
from zlib import crc32

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir
from nodes.protocols.dcfs2 import s2pc
from nodes.units import ROOT, home_group
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.dcfs2.schedules import held, until_held


def begun(lab: Groups, group: int, many: int) -> list[asyncio.Task[Any]]:
    """Ada makes directories in the root whose homes are this group, which receives no request about them."""
    names = [f"/{group}-{number}" for number in range(30 * many)]
    there = [name for name in names if crc32(f"{ROOT}{name}".encode()) % 3 == group - 1]
    requests = held(lab, "OpReq", lab.servers(group))
    calls = [lab.ada.spawn(Mkdir(name)) for name in there[:many]]
    until_held(lab, requests, many)
    requests.drop()
    return calls


def test_a_leader_that_takes_over_asks_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many operations as it asks about at once were begun with the dead group, before one with a living group."""
    monkeypatch.setattr(s2pc, "IN_DOUBT_MAX", 4)
    lab = Groups(1, 3, 1, placement="hash")
    lab.ada.call(Mkdir("/before"))
    lab.cluster.run_until(lab.quiet)
    coordinator = lab.active(1)
    for server in lab.servers(3):
        lab.cluster.faults.crash(server)
    lab.calls = begun(lab, 3, 4)
    [made] = begun(lab, 2, 1)
    lab.cluster.faults.crash(coordinator)
    lab.cluster.run_until(made.done, 60 * SECOND)
    assert home_group(made.result().result.inode) == 2
    assert not any(call.done() for call in lab.calls)
    lab.mend()
    lab.all_returned()
    lab.finish()
