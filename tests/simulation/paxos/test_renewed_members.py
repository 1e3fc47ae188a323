"""A member of the view that has lost its disk, and is back before the view has gone on without it, has to read an image."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.mechanisms import IMAGE_MESSAGES
from nodes.metadata.operations import Mkdir
from nodes.trace.pool_events import JournalPruned
from tests.simulation.paxos.lab import Lab
from tests.simulation.paxos.test_images import short_segments  # noqa: F401


@pytest.mark.parametrize("protocol", ["packed-paxos", "multi-paxos"])
def test_no_write_waits_for_the_image_of_a_member_with_a_new_disk(protocol: str) -> None:
    """As long as it was in the view, every write waited until it had read the image, here for ever."""
    lab = Lab(1, protocol=protocol, image_every=20)
    lab.ada.call(Mkdir("/before"))
    for number in range(160):
        lab.ada.call(Mkdir(f"/d{number}"))
        if number % 40 == 39:
            lab.run_ms(3_000)
    primary, replaced = lab.primary, lab.secondaries[0]
    assert any(each.server == primary for each in lab.reported(JournalPruned))
    images = lab.cluster.hold(
        lambda sender, receiver, message: type(message) in IMAGE_MESSAGES and receiver == replaced
    )
    lab.faults.new_disk(replaced)
    lab.faults.restart(replaced)
    lab.run_ms(100)
    written = lab.begin(lab.ada, Mkdir("/written"))
    lab.cluster.run_for(2 * SECOND)
    assert written.done() and written.exception() is None
    images.drop()
    lab.await_letter(replaced, "S")
    lab.finish()
    assert lab.broken() == {}
