"""The audit judges a cluster at rest: it waits for what is still under way, and says what never ends."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.explore.audit import QUIET_NS, await_quiet, leading_pages
from nodes.metadata import fsck
from nodes.metadata.operations import Create
from nodes.protocols.dcfs2.messages import Ack, Decided
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.dcfs2.schedules import directory_of


@pytest.mark.parametrize("mechanism", ["s2pc_mp", "two_phase"])
@pytest.mark.parametrize("lost_ns", [2 * SECOND, 2 * QUIET_NS])
def test_operations_that_end_late_are_waited_for(mechanism: str, lost_ns: int) -> None:
    """The last message of each operation is lost for so long."""
    lab = Groups(3, placement="random", cross_group=mechanism)
    lost = lab.cluster.hold(lambda sender, receiver, message: type(message) in (Ack, Decided))
    directory = directory_of(lab, 2)
    for number in range(4):
        lab.ada.call(Create(f"{directory}/f{number}"))
    assert fsck.faults(leading_pages(lab.cluster))
    begun_ns = lab.cluster.now_ns
    lab.cluster.loop.at(begun_ns + lost_ns, lost.drop)
    await_quiet(lab.cluster)
    assert (fsck.faults(leading_pages(lab.cluster)) == []) is (lost_ns < QUIET_NS)
    assert lab.cluster.now_ns - begun_ns <= QUIET_NS + SECOND
