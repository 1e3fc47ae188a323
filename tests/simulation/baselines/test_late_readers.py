"""A standby that reads the shared journal late. Its copy is written, and not applied yet, when images of others would let its journal go, beyond its
namespace: an order for an image, or the lock, then found no group at which the namespace stands."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.metadata_server.messages import Prune
from nodes.metadata_server.own_journal import OwnJournal
from nodes.sim.network import HeldMessages
from nodes.storage import journal_file
from nodes.trace.pool_events import JournalPruned
from tests.chosen import but_for_slow
from tests.simulation.baselines.lab import SHARED, lab_of
from tests.simulation.mams.lab import Lab

every_family = pytest.mark.parametrize("protocol", but_for_slow(list(SHARED), ("hadoop-ha",)))


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 300)


def reads_late(protocol: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Lab, str, HeldMessages]:
    """A standby that begins to write 150 groups to its slow disk, and the orders, on their way to it, to prune its journal below the images of them.

    Another standby is away, so that the shared journal keeps the groups.
    """
    lab = lab_of(protocol, 1, image_every=20, standbys=3)
    away, _, late = lab.standbys
    lab.faults.crash(away)
    for node in lab.cluster.config.journal.nodes:
        lab.faults.cut(late, node)
    orders = lab.cluster.hold(lambda s, r, x: r == late and isinstance(x, Prune))
    for n in range(150):
        lab.ada.call(Mkdir(f"/a{n}"))
        lab.run_ms(100)
    assert len(orders.messages) > 1
    begun, take, store = [], OwnJournal.take, lab.cluster.servers[late].store

    async def taken(own: OwnJournal, groups: list[bytes]) -> None:
        if own._world.name == late and len(groups) > 20:
            begun.append(len(groups))
            store.slow_ns = 1 * SECOND
        await take(own, groups)

    monkeypatch.setattr(OwnJournal, "take", taken)
    lab.faults.heal_all()
    lab.cluster.run_until(lambda: bool(begun), 60 * SECOND)
    lab.run_ms(5)
    return lab, late, orders


def pruned(lab: Lab, server: str) -> list[int]:
    return [
        s.event.first_sn for s in lab.cluster.events if s.server == server and type(s.event) is JournalPruned
    ]


@every_family
def test_an_order_for_an_image_while_the_journal_is_written(protocol, monkeypatch):
    lab, late, orders = reads_late(protocol, monkeypatch)
    orders.release()
    for n in range(100):
        lab.begin(lab.ada, Mkdir(f"/b{n}"))
        lab.run_ms(20)
    assert pruned(lab, late) == []
    lab.cluster.servers[late].store.slow_ns = 0
    for n in range(400):
        if not pruned(lab, late):
            lab.ada.call(Mkdir(f"/c{n}"), 60 * SECOND)
            lab.run_ms(100)
    assert pruned(lab, late)
    lab.finish()
    assert lab.broken() == {}


@every_family
@pytest.mark.parametrize("written", [False, True])
def test_the_lock_is_taken_before_the_journal_is_applied(protocol, written, monkeypatch):
    """`written`: the groups are on the disk when the orders arrive, before the new epoch makes them void."""
    lab, late, orders = reads_late(protocol, monkeypatch)
    active, other = lab.active, next(name for name in lab.standbys if name != late)
    epoch = lab.cluster.hold_write(late, lambda changes: any(c.path.endswith("/epoch") for c in changes))
    if not written:
        orders.release()
    lab.faults.crash(other)
    lab.faults.take_lock("g1")
    lab.faults.crash(active)
    lab.cluster.run_until(lambda: bool(epoch.held), 60 * SECOND)
    lab.cluster.servers[late].store.slow_ns = 0
    lab.run_ms(1500)
    if written:
        orders.release()
    lab.run_ms(5)
    epoch.release()
    lab.await_next_active()
    assert lab.active == late
    assert lab.eve.call(Stat("/a149"), 60 * SECOND).error == ""
    lab.finish()
    assert lab.broken() == {}
