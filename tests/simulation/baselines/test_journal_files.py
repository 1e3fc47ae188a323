"""Files of journal nodes that lag behind: crashes while they prune or cut, and rot, after which nodes did not start again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nodes.config import MILLISECOND, SECOND, Timing
from nodes.metadata.operations import Mkdir
from nodes.sim.network import HeldMessages
from nodes.storage import journal_file
from nodes.wire.journal_messages import (
    AcceptJournal,
    FinishSegment,
    NewEpoch,
    PruneJournal,
    StartSegment,
    WriteJournal,
)
from tests.simulation.baselines.lab import lab_of
from tests.simulation.mams.lab import Lab

NODE = "jn3"
FULL = 1000
both_seeds = pytest.mark.parametrize("seed", [1, 2])


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", FULL)
    yield


def writes(lab: Lab, name: str, count: int, ms: int = 10) -> None:
    for number in range(count):
        lab.ada.call(Mkdir(f"/{name}{number}"), 60 * SECOND)
        lab.run_ms(ms)


def files(lab: Lab) -> dict[str, int]:
    """Sizes of the node's journal files, by path, in order."""
    found = lab.cluster.servers[NODE].store.files
    return {path: len(found[path].data) for path in sorted(found) if path.startswith("journal/")}


def last_size(lab: Lab) -> int:
    return list(files(lab).values())[-1]


def fill(lab: Lab) -> None:
    """Writes until the next group begins another file."""
    writes(lab, "a", 20, 30)
    while last_size(lab) < FULL:
        writes(lab, f"b{last_size(lab)}-", 1, 30)


def hold_all_but_prunes(lab: Lab) -> HeldMessages:
    """The node takes only orders to prune, and no other node does."""
    kinds = (NewEpoch, AcceptJournal, FinishSegment, StartSegment, WriteJournal)
    lab.cluster.hold(lambda s, r, x: r != NODE and isinstance(x, PruneJournal))
    return lab.cluster.hold(lambda s, r, x: r == NODE and isinstance(x, kinds))


def await_pruned(lab: Lab) -> None:
    """Waits until the node has only its last file, which has one group."""
    for number in range(4):
        writes(lab, f"c{number}-", 60)
        lab.run_ms(10_000)
    assert len(files(lab)) == 1


def starts_again(lab: Lab) -> None:
    lab.run_ms(1_000)
    lab.faults.restart(NODE)
    lab.run_ms(1_000)
    assert lab.cluster.servers[NODE].process == "running"
    writes(lab, "z", 20, 200)
    lab.finish()
    assert lab.cluster.servers[NODE].process == "running"
    assert lab.broken() == {}


@both_seeds
def test_a_file_stays_until_the_next_one_is_durable(seed: int) -> None:
    """On a slow disk, the first group of a file and an order to prune everything before it come together."""
    lab = lab_of("qjm", seed, standbys=2, image_every=40, timing=Timing(ack_timeout_ms=4_000))
    fill(lab)
    lab.run_ms(25_000)
    store = lab.cluster.servers[NODE].store
    store.slow_ns = 8 * SECOND
    ends, prunes = lab.copies(FinishSegment, NODE), lab.copies(PruneJournal, NODE)
    lab.cluster.run_until(lambda: bool(ends), 20 * SECOND)
    before = files(lab)
    writes(lab, "c", 120, 1)
    lab.cluster.run_until(lambda: len(prunes) == 2, 3 * SECOND)
    lab.cluster.run_until(lambda: files(lab) != before, 10 * SECOND)
    lab.faults.power_loss(NODE, "nothing")
    store.slow_ns = 0
    starts_again(lab)


@both_seeds
def test_a_node_starts_after_it_has_cut_everything_behind_what_was_pruned(seed: int) -> None:
    """Its last file has one group, which no other node has. It is killed while it replaces that group."""
    lab = lab_of("qjm", seed, standbys=2, image_every=40)
    fill(lab)
    lab.run_ms(35_000)
    old, store = lab.active, lab.cluster.servers[NODE].store
    lost = lab.cluster.hold(lambda s, r, x: s == old and r != NODE and isinstance(x, WriteJournal))
    lab.begin(lab.ada, Mkdir("/fork"))
    lab.run_ms(100)
    lab.faults.crash(old)
    lost.drop()
    held = hold_all_but_prunes(lab)
    lab.await_next_active()
    lab.faults.restart(old)
    await_pruned(lab)
    size, store.slow_ns = last_size(lab), 300 * MILLISECOND
    held.drop()
    lab.cluster.run_until(lambda: last_size(lab) < size, 40 * SECOND)
    lab.faults.crash(NODE)
    store.slow_ns = 0
    starts_again(lab)


@both_seeds
def test_a_node_starts_although_all_that_was_not_pruned_has_rotted(seed: int) -> None:
    lab = lab_of("qjm", seed, standbys=2, image_every=40)
    fill(lab)
    writes(lab, "last", 1)
    lab.run_ms(35_000)
    held = hold_all_but_prunes(lab)
    await_pruned(lab)
    lab.faults.crash(NODE)
    lab.faults.corrupt(NODE, "journal_tail", "middle")
    held.drop()
    starts_again(lab)
