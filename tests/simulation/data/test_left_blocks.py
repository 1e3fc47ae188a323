"""A writer takes a file over whose last block another one left unfinished: it keeps what was acknowledged."""

from __future__ import annotations

import pytest

from nodes.blocks.pipeline import WINDOW
from nodes.wire.data_messages import PACKET_BYTES
from tests.simulation.data.lab import DataLab, content

PART = 50_000
PARTS = 120


@pytest.mark.parametrize("seed", range(3))
def test_a_replica_that_was_left_behind_does_not_shorten_the_block(seed: int) -> None:
    """The metadata servers do not know yet that the others have a later stamp."""
    lab = DataLab(seed, nodes=3)
    data = content(seed, 8_000_000)
    lab.begin_put("/f", data, PART, block_size=1 << 23)
    lab.until(lambda: lab.parts_given >= 4)
    lab.run_ms(100)
    lab.faults.cut(["dn1", "dn2"], others=list(lab.cluster.view()))
    lab.faults.pause("dn3")
    lab.until(lambda: lab.parts_given >= PARTS)
    lab.faults.resume("dn3")
    lab.faults.crash("ada")
    lab.tasks.clear()
    lab.append("/f", b"more", lab.eve, force=True)
    lab.faults.heal_all()
    got = lab.get("/f")
    kept = len(got) - 4
    assert got == data[:kept] + b"more" and kept >= PARTS * PART - (WINDOW + 2) * PACKET_BYTES
