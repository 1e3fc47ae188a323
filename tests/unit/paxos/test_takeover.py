"""The reports that an elected server collects in phase 1."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from nodes.protocols.paxos.log import NOTHING
from nodes.protocols.paxos.member import PaxosMember
from nodes.protocols.paxos.messages import AcceptedSlot, PaxosPrepare, PaxosPromise
from nodes.protocols.paxos.takeover import Takeover
from nodes.units import DiskId
from tests.unit.paxos.test_log import chain, filled, opened
from tests.unit.storage.memory_disk import MemoryDisk

BALLOT, DISK = 9, DiskId(7)


def test_a_member_that_restarts_behind_an_image_reports_anew() -> None:
    """It had reported a part since it read the image. The restarted one has the slots below the image too: what it reported then was ignored, and it
    was asked again and again."""
    asked: list[PaxosPrepare] = []
    network = SimpleNamespace(send=lambda server, message: asked.append(message))
    world = SimpleNamespace(network=network, clock=SimpleNamespace(monotonic_ns=lambda: 1))
    member = SimpleNamespace(name="elected", queue=SimpleNamespace(success=0), world=world)
    takeover = Takeover(cast(PaxosMember, member))
    takeover.ballot = BALLOT
    disk, records = MemoryDisk(), chain(60)
    log = filled(disk, records, 30)
    log.begin_behind(records[39][2])
    again = opened(disk)
    again.open_behind(records[39][2])
    assert (log.base.sn, again.base) == (40, NOTHING)
    slots = [AcceptedSlot(record.sn, 1, data) for record, data, _ in records]
    takeover.on_promise("m", PaxosPromise(BALLOT, 40, 60, 1, 45, slots[40:45], DISK, log.base.sn))
    for _ in range(10):
        if not asked:
            break
        first = asked.pop().from_slot
        last = min(60, first + 19)
        report = slots[first - 1 : last]
        takeover.on_promise("m", PaxosPromise(BALLOT, 40, 60, first, last, report, DISK, again.base.sn))
    assert takeover.answers["m"].whole and not asked
