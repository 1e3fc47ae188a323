"""Messages of a member's former life, or of an attempt that is over, that arrive late (safety rules 4, 23 and 24)."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.mutations import Mutations
from nodes.protocols.symmetric.messages import Flush, Settle, Welcome
from nodes.storage import journal_file
from nodes.trace.events import Serving
from nodes.trace.pool_events import ImageWritten
from tests.simulation.symmetric.lab import SymmetricLab


@pytest.fixture(autouse=True)
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of some groups, so that pruning has something to remove."""
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 1000)


@pytest.mark.parametrize("keeps", [True, False])
def test_a_joiner_keeps_the_journal_that_the_next_view_counts_on(keeps: bool) -> None:
    """A late Welcome tells it to begin from an image, after it has settled and before it has read the view."""
    mutations = Mutations(emptied_after_settling=not keeps)
    lab = SymmetricLab(1, members=2, image_every=10, mutations=mutations)
    for number in range(65):
        lab.ada.call(Mkdir(f"/d{number}"))
        lab.run_ms(60)
    lab.run_ms(3_000)
    welcomes = lab.copies(Welcome, "mds2")
    lab.faults.new_disk("mds2")
    lab.run_ms(3_000)
    installs = lab.cluster.hold_write("mds1", lambda changes: any(c.path.endswith("/epoch") for c in changes))
    lab.faults.restart("mds2")
    lab.cluster.run_until(lambda: bool(installs.held))
    lab.run_ms(2)
    lab.deliver(next(copy for copy in welcomes if not copy[2].leads_on))
    lab.run_ms(8)
    installs.release()
    lab.run_ms(10)
    lab.asks(lab.eve, "mds2")
    lab.begin(lab.eve, Stat("/d64"))
    lab.begin(lab.ada, Mkdir("/x"))
    lab.run_ms(3_000)
    lab.finish_somehow()
    assert ("no lost write" in lab.broken()) is not keeps
    assert not keeps or lab.broken() == {}


@pytest.mark.parametrize("refuses", [True, False])
def test_a_view_names_the_disk_that_has_settled(refuses: bool) -> None:
    """The disk that answered Flush is replaced before Settle comes. A member that its view does not name counts nowhere: it could not go on alone
    with what was acknowledged."""
    lab = SymmetricLab(1, members=2, mutations=Mutations(settled_by_other_disk=not refuses))
    for number in range(20):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.faults.new_disk("mds2")
    lab.run_ms(2_000)
    settles = lab.cluster.hold(
        lambda sender, receiver, message: type(message) is Settle and message.final and receiver == "mds2"
    )
    lab.faults.restart("mds2")
    lab.cluster.run_until(lambda: bool(settles.messages))
    lab.faults.new_disk("mds2")
    lab.faults.restart("mds2")
    lab.run_ms(20)
    settles.release()
    lab.run_ms(3_000)
    lab.ada.call(Mkdir("/acknowledged"))
    lab.faults.crash("mds1")
    written = lab.ada.spawn(Mkdir("/after"))
    lab.run_ms(20_000)
    assert (written.done() and written.exception() is None) is refuses


@pytest.mark.parametrize("refuses", [True, False])
def test_a_flush_of_an_attempt_that_is_over_ends_no_images(refuses: bool) -> None:
    lab = SymmetricLab(1, members=3, image_every=10, mutations=Mutations(late_flush_ends_images=not refuses))
    flushes = lab.copies(Flush, "mds1")
    lab.faults.respawn("mds1")
    lab.run_ms(3_000)
    views = [s.event.epoch for s in lab.cluster.events if s.server == "mds1" and type(s.event) is Serving]
    lab.deliver(next(copy for copy in flushes if copy[2].attempt == views[-1]))
    lab.run_ms(200)
    before = len(lab.cluster.events)
    for number in range(60):
        lab.ada.call(Mkdir(f"/d{number}"))
        lab.run_ms(100)
    lab.cluster.run_for(5 * SECOND)
    images = [s for s in lab.cluster.events[before:] if type(s.event) is ImageWritten]
    assert bool(images) is refuses
