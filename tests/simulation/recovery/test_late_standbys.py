"""A standby that has yet to read the barrier in the shared journal restarts, with images beyond it: the checkpoint stays complete (rule 14)."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.storage import journal_file
from nodes.trace.events import Applied
from nodes.trace.pool_events import ImageShelved, JournalPruned
from tests.chosen import but_for_slow
from tests.simulation.recovery.recorded import SHARED, Recorded


class Late(Recorded):
    """The standbys receive images, but nothing of the journal."""

    def __init__(self, protocol: str, seed: int):
        super().__init__(protocol, seed, standbys=2, log_bytes=1 << 12)
        self.fill("read", 2)
        self.settle()
        self.late = [name for name in self.servers(1) if name != self.active(1)]
        self.read_sn = max(e.sn for e in self.reported(Applied))
        nodes = self.config.journal.nodes
        self.unread = self.cluster.hold(lambda sender, receiver, _: sender in nodes and receiver in self.late)

    def grow(self, name: str, images: int = 1) -> None:
        """Works until every standby has so many more images from beyond the end of its journal."""
        goal = self.images_beyond() + images
        for number in range(40):
            if self.images_beyond() >= goal:
                return
            self.fill(f"{name}{number}", 4)
            self.cluster.run_for(SECOND // 4)
        raise AssertionError("the standbys receive no images")

    def images_beyond(self) -> int:
        """Images that every standby has received."""
        seen = [
            {e.sn for e in self.reported(ImageShelved, name) if e.sn > self.read_sn} for name in self.late
        ]
        return min(map(len, seen))

    def restart_late(self) -> None:
        for name in self.late:
            self.cluster.faults.crash(name)
        self.unread.drop()
        for name in self.late:
            self.cluster.faults.restart(name)
        self.settle()


@pytest.mark.parametrize("protocol", but_for_slow(SHARED, ("avatar",)))
def test_a_restart_passes_over_no_barrier(protocol: str) -> None:
    lab = Late(protocol, 20)
    lab.mark("one")
    before = lab.content()
    lab.grow("later")
    lab.restart_late()
    lab.recover("one")
    assert all(e.sn for e in lab.taken_back()) and lab.content() == before
    lab.finish()


@pytest.mark.parametrize("protocol", but_for_slow(SHARED, ("avatar",)))
def test_nor_does_one_whose_journal_is_pruned(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its images lie all beyond the end of its journal. The image that the checkpoint needs is among them."""
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 100)
    lab = Late(protocol, 21)
    lab.grow("earlier")
    lab.mark("one")
    before = lab.content()
    lab.grow("later", 2)
    lab.run_ms(2_000)
    assert {*lab.late} <= {s.server for s in lab.cluster.events if type(s.event) is JournalPruned}
    lab.restart_late()
    lab.recover("one")
    assert all(e.sn for e in lab.taken_back()) and lab.content() == before
    lab.finish()
