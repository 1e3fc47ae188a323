"""Orders to remove a file of an image that arrive late: the image has become whole meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND
from nodes.protocols.vssp import messages as m
from nodes.wire.messages import Mark
from tests.simulation.vssp.lab import PoolLab, partitions_of
from tests.simulation.vssp.test_read_meanwhile import damaged

PIPELINE = (m.OpenImage, m.ImagePacket, m.CloseImage)


def ordered_away(seed: int) -> tuple[PoolLab, Any, Any]:
    """While n1 sends an image to n3, which restarts, n2 orders its files away. The sending and the orders."""
    lab = PoolLab(seed, files=20_000)
    writing = lab.spawn("n1", lab.pools["n1"].write(lab.namespace, lab.mark, ["n1", "n3"], lambda: None))
    lab.until(lambda: len(partitions_of(lab, "n3")) == 4)
    lab.cluster.faults.crash("n3")
    lab.cluster.faults.restart("n3")
    pipeline = lab.cluster.hold(lambda _, to, message: to == "n3" and isinstance(message, PIPELINE))
    newer = Mark(0, 1, lab.mark.sn + 100, 9)
    lab.run("n2", lab.pools["n2"].write(lab.namespace, newer, ["n2", "n1"], lambda: None))
    orders = lab.cluster.hold(lambda _, to, message: to == "n3" and isinstance(message, m.RemoveFile))
    lab.run("n2", lab.pools["n2"].survey(["n2", "n1", "n3"]))
    assert orders.messages
    pipeline.drop()
    return lab, writing, orders


@pytest.mark.parametrize("seed", range(2))
def test_an_image_that_has_become_whole_loses_no_file(seed: int) -> None:
    lab, writing, orders = ordered_away(seed)
    lab.until(writing.done)
    assert writing.result() == ["n1", "n3"]
    orders.release()
    lab.cluster.run_for(5 * SECOND)
    assert damaged(lab, "n3") == []
