"""The newest image lies on no server that is there, while the journal of the active is whole."""

from __future__ import annotations

import pytest

from nodes.config import MILLISECOND, SECOND, Knobs
from nodes.metadata.operations import Mkdir
from nodes.metadata_server.messages import ImageTaken
from nodes.protocols.vssp.messages import CloseImage, ImagePacket, OpenImage
from nodes.wire.messages import Message
from tests.simulation.mams.lab import Lab

IMAGE = (OpenImage, ImagePacket, CloseImage)


@pytest.mark.parametrize("protocol", ["mams", "2pc"])
def test_a_junior_is_renewed_by_the_journal_alone(protocol: str) -> None:
    """No image is taken before more is written, and nothing can be written before the junior is in step."""
    knobs = Knobs(direct_groups=1)
    lab = Lab(1, standbys=2, protocol=protocol, image_every=60, image_gap=40, knobs=knobs)
    lab.ada.call(Mkdir("/a"))
    junior = lab.standbys[0]
    lab.faults.crash(junior)
    lab.cluster.run_until(lambda: junior not in lab.cluster.configured["g1"], 60 * SECOND)
    taken: list[str] = []

    def reported(sender: str, receiver: str, message: Message) -> bool:
        if type(message) is ImageTaken and message.holders:
            taken.append(sender)
        return False

    packets = lab.cluster.hold(lambda sender, receiver, message: type(message) in IMAGE)
    lab.cluster.hold(reported)
    for number in range(120):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.cluster.run_until(lambda: bool(taken), 60 * SECOND)
    lab.cluster.run_for(2 * MILLISECOND)
    lab.faults.crash(taken[0])
    packets.drop()
    lab.run_ms(8_000)
    lab.faults.restart(junior)
    written = lab.begin(lab.ada, Mkdir("/after"))
    lab.cluster.run_until(written.done, 120 * SECOND)
    assert written.exception() is None
    lab.finish()
    assert lab.broken() == {}
