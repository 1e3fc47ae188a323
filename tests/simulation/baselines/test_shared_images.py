"""Families with a shared journal: their standbys take images, the journal below them is pruned, and a server that lacks pruned groups starts
from an image."""

from __future__ import annotations

import pytest

from nodes.config import SECOND, JournalConfig, one_group
from nodes.families import family_named
from nodes.storage import journal_file
from nodes.trace.events import JournalOpened
from nodes.trace.pool_events import ImageWritten, JournalPruned
from nodes.wire.journal_messages import JournalRead
from nodes.wire.messages import Message
from tests.chosen import but_for_slow
from tests.simulation.at_work import AtWork

every_family = pytest.mark.parametrize(
    "protocol", but_for_slow(["qjm", "hadoop-ha", "bookkeeper", "avatar"], ("hadoop-ha",))
)


@pytest.fixture(autouse=True)
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of some groups, so that pruning has something to remove."""
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 4000)


class Group(AtWork):
    def __init__(self, protocol: str):
        family = family_named(protocol)
        journal = JournalConfig(nodes=family.journal_names())
        config = one_group(family.standbys, protocol=protocol, journal=journal, image_every=200)
        super().__init__(config, seed=1, rate_per_s=300)

    def crash_and_restart(self, name: str) -> None:
        super().crash_and_restart(name)
        self.cluster.run_for(3 * SECOND)


@every_family
def test_a_standby_takes_images_and_journals_below_them_go(protocol: str) -> None:
    group = Group(protocol)
    group.cluster.run_for(12 * SECOND)
    standby, active = group.of("S"), group.of("A")
    assert len(group.reported(ImageWritten, standby)) > 2
    assert group.reported(JournalPruned, active) and group.reported(JournalPruned, standby)
    group.finish()


@every_family
def test_a_server_starts_from_its_image(protocol: str) -> None:
    group = Group(protocol)
    group.cluster.run_for(12 * SECOND)
    standby = group.of("S")
    group.cluster.faults.do("crash", [standby])
    group.cluster.run_for(1 * SECOND)
    group.cluster.faults.restart(standby)
    group.cluster.run_for(1 * SECOND)
    assert group.reported(JournalOpened, standby)[-1].image_sn > 0
    group.finish()


def test_who_lacks_what_is_pruned_reads_an_image() -> None:
    group = Group("hadoop-ha")
    group.cluster.run_for(12 * SECOND)
    standby = group.of("S")
    group.cluster.faults.do("new_disk", [standby])
    begins: list[int] = []

    def listens(sender: str, receiver: str, message: Message) -> bool:
        if isinstance(message, JournalRead) and receiver == standby:
            begins.append(message.base.sn)
        return False

    group.cluster.hold(listens)
    group.cluster.faults.restart(standby)
    group.cluster.run_for(5 * SECOND)
    assert max(begins) > 0
    group.crash_and_restart(group.of("A"))
    group.finish()


def test_a_replaced_journal_node_begins_where_the_others_do() -> None:
    group = Group("hadoop-ha")
    group.cluster.run_for(12 * SECOND)
    group.cluster.faults.do("new_disk", ["jn1"])
    group.cluster.faults.restart("jn1")
    group.cluster.run_for(8 * SECOND)
    for name in ("jn2", "jn3"):
        group.crash_and_restart(name)
    group.crash_and_restart(group.of("A"))
    group.finish()
