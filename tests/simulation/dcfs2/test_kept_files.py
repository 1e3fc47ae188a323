"""A file that lost one of its names is read again as soon as the group of that name has acknowledged that."""

from __future__ import annotations

import pytest

from nodes.config import MILLISECOND
from nodes.metadata.operations import Create, Delete, Link, Stat
from nodes.protocols.dcfs2.messages import Ack
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.dcfs2.schedules import until_held
from tests.simulation.dcfs2.test_late_copies import make_at


@pytest.mark.parametrize("seed", range(1, 4))
def test_a_reader_of_the_other_name_waits_no_longer_than_for_the_acknowledgement(seed: int) -> None:
    """Nothing else goes on in the file's group, whose next event could be the one that answers the reader."""
    lab = Groups(seed, 2, 1, placement="random")
    make_at(lab, "/x", 1)
    make_at(lab, "/y", 2)
    make_at(lab, "/x/f", 2, Create)
    lab.eve.call(Link("/x/f", "/y/g"))
    assert lab.ada.call(Stat("/y/g")).result.nlink == 2  # type: ignore[union-attr]
    lab.cluster.run_until(lab.quiet)
    acknowledgements = lab.cluster.hold(lambda sender, receiver, message: type(message) is Ack)
    lab.eve.call(Delete("/x/f"))
    until_held(lab, acknowledgements)
    read = lab.ada.spawn(Stat("/y/g"))
    lab.cluster.run_for(20 * MILLISECOND)
    assert not read.done()
    acknowledgements.release()
    lab.cluster.run_until(read.done, 50 * MILLISECOND)
    assert read.result().result.nlink == 1  # type: ignore[union-attr]
    lab.finish()
