"""Journal nodes and bookies whose disks are replaced, rot, and lose power."""

from __future__ import annotations

import pytest

from nodes.config import MILLISECOND, SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.storage import journal_file
from nodes.trace.journal_events import JournalStored
from tests.simulation.baselines.lab import lab_of
from tests.simulation.mams.lab import Lab

every_family = pytest.mark.parametrize("protocol", ["qjm", "hadoop-ha", "bookkeeper"])


def stat_after(lab: Lab, *paths: str) -> None:
    lab.finish()
    for path in paths:
        assert lab.eve.call(Stat(path)).error == ""
    assert lab.broken() == {}


@every_family
@pytest.mark.parametrize("seed", range(2))
def test_every_node_is_replaced_one_after_the_other(seed: int, protocol: str) -> None:
    lab = lab_of(protocol, seed)
    names = lab.cluster.config.journal.nodes
    for number, name in enumerate(names):
        lab.ada.call(Mkdir(f"/{number}"))
        lab.faults.new_disk(name)
        lab.ada.call(Mkdir(f"/{number}/while"))
        lab.faults.restart(name)
        for more in range(40):
            lab.ada.call(Mkdir(f"/{number}/{more}"))
            lab.run_ms(100)
        lab.faults.take_lock("g1")
        lab.await_next_active()
    last = len(names) - 1
    stat_after(lab, "/0/while", f"/{last}/39")


@every_family
@pytest.mark.parametrize("seed", range(2))
def test_after_power_loss_of_all_under_load_the_group_comes_back(seed: int, protocol: str) -> None:
    lab = lab_of(protocol, seed)
    lab.ada.call(Mkdir("/a"))
    names = [*lab.cluster.view(), *lab.cluster.config.journal.nodes]
    for number in range(20):
        lab.begin(lab.ada, Mkdir(f"/a/{number}"))
        lab.run_ms(1)
    for name in names:
        lab.faults.power_loss(name)
    lab.run_ms(6_000)
    for name in names:
        lab.faults.restart(name)
    stat_after(lab, "/a")


@every_family
@pytest.mark.parametrize("seed", range(2))
def test_a_replaced_node_is_taken_in_under_the_same_writer(seed: int, protocol: str) -> None:
    lab = lab_of(protocol, seed)
    lab.ada.call(Mkdir("/a"))
    name = {each.server for each in lab.cluster.events if type(each.event) is JournalStored}
    replaced = min(name)
    lab.faults.new_disk(replaced)
    lab.faults.restart(replaced)
    for number in range(80):
        lab.ada.call(Mkdir(f"/a/{number}"))
        lab.run_ms(100)
    other = next(each for each in lab.cluster.config.journal.nodes if each != replaced)
    lab.faults.crash(other)
    lab.ada.call(Mkdir("/b"))
    lab.cluster.run_for(1 * SECOND)
    lab.faults.crash(lab.active)
    lab.await_next_active()
    stat_after(lab, "/b")


def rots(lab: Lab, name: str, part: str) -> None:
    """One byte on the disk of this node has changed, in its state or in the middle of its journal."""
    files = lab.cluster.servers[name].store.files
    if part == "state":
        files["journal-node"].data[30] ^= 1
    else:
        segments = segments_of(lab, name)
        files[segments[len(segments) // 2]].data[60] ^= 1


def segments_of(lab: Lab, name: str) -> list[str]:
    return sorted(path for path in lab.cluster.servers[name].store.files if path.startswith("journal/"))


@pytest.mark.parametrize(
    ("part", "left"), [("state", 8), ("state", 4), ("state", 2), ("journal", 4), ("journal", 2)]
)
def test_a_node_that_crashes_while_it_sets_its_files_aside_starts_again(
    monkeypatch: pytest.MonkeyPatch, part: str, left: int
) -> None:
    """The state goes first, then the segments; so many are `left`, and older ones have been pruned."""
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 1000)
    lab, name = lab_of("qjm", 1, image_every=40), "jn3"
    for turn, count in enumerate((100, 60, 60)):
        for number in range(count):
            lab.ada.call(Mkdir(f"/{turn}-{number}"))
            lab.run_ms(30)
        lab.cluster.run_for(35 * SECOND)
    server = lab.cluster.servers[name]
    lab.faults.crash(name)
    assert len(segments_of(lab, name)) > 4
    rots(lab, name, part)
    server.store.slow_ns = 10 * MILLISECOND
    lab.faults.restart(name)
    lab.cluster.run_until(lambda: len(segments_of(lab, name)) <= left, 2 * SECOND)
    lab.faults.crash(name)
    server.store.slow_ns = 0
    lab.faults.restart(name)
    lab.cluster.run_for(1 * SECOND)
    assert server.process == "running"
    stat_after(lab, "/0-0", "/2-59")
