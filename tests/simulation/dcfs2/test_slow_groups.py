"""Groups that reply slowly, because of their links or disks, are waited for: a reply to any copy counts."""

from __future__ import annotations

import asyncio

import pytest

from nodes.config import MILLISECOND, SECOND
from nodes.metadata.operations import Create, Delete, Rename, Stat
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.dcfs2.test_late_copies import make_at

ANSWERED_NS = 10 * SECOND


def two_parents(protocol: str = "mams") -> Groups:
    """Two groups: /x with a file and a directory at home in group 1, /y in group 2."""
    lab = Groups(1, 2, 1, placement="random", protocol=protocol)
    make_at(lab, "/x", 1)
    make_at(lab, "/y", 2)
    make_at(lab, "/x/d", 1)
    lab.eve.call(Create("/x/f"))
    return lab


def set_apart(lab: Groups, ms: int) -> None:
    """Each message between the two groups takes this long."""
    for one in lab.servers(1):
        for other in lab.servers(2):
            lab.cluster.faults.delay(one, other, ms=ms)


def move_both(lab: Groups) -> None:
    for name, kind in (("f", "file"), ("d", "directory")):
        lab.eve.call(Rename(f"/x/{name}", f"/y/{name}"), ANSWERED_NS)
        assert lab.ada.call(Stat(f"/y/{name}")).result.kind == kind  # type: ignore[union-attr]


@pytest.mark.parametrize("ms", [55, 400])
@pytest.mark.parametrize("protocol", ["mams", "packed-paxos", "2pc"])
def test_a_rename_between_distant_groups_is_answered(protocol: str, ms: int) -> None:
    lab = two_parents(protocol)
    set_apart(lab, ms)
    move_both(lab)
    lab.finish()


def test_a_rename_into_a_group_with_slow_disks_is_answered() -> None:
    """Other clients write there without a pause: every vote waits for a sync under way and for its own."""
    lab = two_parents()
    for server in lab.servers(2):
        lab.cluster.faults.slow_disk(server, ms=120)
    writers = [lab.cluster.start_client(f"writer{number}") for number in range(8)]
    over, created = False, 0

    async def writing(writer: int) -> None:
        nonlocal created
        number = 0
        while not over:
            number += 1
            await writers[writer].spawn(Create(f"/y/{writer}-{number}"))
            created += 1

    tasks: list[asyncio.Task[None]] = [
        lab.cluster.loop.create_task(writing(number)) for number in range(len(writers))
    ]
    lab.cluster.run_until(lambda: created >= len(tasks), ANSWERED_NS)
    move_both(lab)
    over = True
    lab.cluster.run_until(lambda: all(task.done() for task in tasks), ANSWERED_NS)
    for task in tasks:
        task.result()
    lab.finish()


def test_reads_go_on_while_a_recursive_delete_waits_for_a_distant_group() -> None:
    """The delete counts a move in every group, and no path is followed while a move is undecided."""
    lab = two_parents()
    make_at(lab, "/x/d/sub", 2)
    make_at(lab, "/y/e", 2)
    set_apart(lab, 60)
    gone = lab.eve.spawn(Delete("/x/d", True))
    waited: list[int] = []
    began = lab.cluster.now_ns
    while lab.cluster.now_ns < began + 4 * SECOND:
        asked = lab.cluster.now_ns
        assert lab.ada.call(Stat("/y/e")).result.kind == "directory"  # type: ignore[union-attr]
        waited.append(lab.cluster.now_ns - asked)
        lab.cluster.run_for(10 * MILLISECOND)
    assert max(waited) < 500 * MILLISECOND
    gone.result()
    lab.finish()
