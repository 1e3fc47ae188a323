"""A writer takes a file over whose last block another one left unfinished: it keeps what was acknowledged."""

from __future__ import annotations

import pytest

from nodes.blocks.pipeline import WINDOW
from nodes.errors import FsError
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


def test_force_does_not_give_up_what_live_nodes_have_that_do_not_answer() -> None:
    """The writer's nodes cannot be reached by the next client for a moment, and another one can."""
    lab = DataLab(4, nodes=4)
    data = content(4, 8_000_000)
    lab.begin_put("/f", data, PART, block_size=1 << 23)
    lab.until(lambda: lab.parts_given >= 10)
    lab.run_ms(100)
    lab.faults.crash("ada")
    lab.tasks.clear()
    disks = {name: lab.cluster.servers[name].store.files for name in lab.data_nodes}
    holders = [name for name in lab.data_nodes if any(path.startswith("blocks/") for path in disks[name])]
    assert len(holders) == 3
    for name in holders:
        lab.faults.cut("eve", name)
    with pytest.raises(FsError, match=f"EIO: no data node answers .*: {', '.join(holders)} had it"):
        lab.append("/f", b"more", lab.eve, force=True)
    lab.faults.heal_all()
    lab.append("/f", b"more", lab.eve, force=True)
    got = lab.get("/f")
    kept = len(got) - 4
    assert got == data[:kept] + b"more" and kept >= 10 * PART - (WINDOW + 2) * PACKET_BYTES and kept > PART
