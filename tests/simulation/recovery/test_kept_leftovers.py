"""Half-written replicas beside the whole ones of a block that a checkpoint names (safety rule 14)."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from nodes.metadata.operations import Delete, Mkdir
from nodes.wire.data_messages import Packet
from nodes.wire.messages import Message
from tests.simulation.recovery.content import (
    NODES,
    allowed_parts,
    get,
    parts_of,
    replicas,
    with_data,
    written,
)
from tests.simulation.recovery.lab import Checkpoints

SIZE = 1 << 16
DATA = Random(7).randbytes(4 * SIZE)


class HalfWritten:
    """A file of one block. Eve has written half of it and waits."""

    def __init__(self, seed: int):
        self.lab: Checkpoints = with_data(seed, 1)
        self.lab.call(Mkdir("/of-ada"))
        self._allowed = 2
        parts = allowed_parts(self.lab, DATA, SIZE, lambda: self._allowed)
        put = self.lab.eve.files.put("/f", parts, block_size=len(DATA))
        self._writing: asyncio.Task[int] = self.lab.eve.begin(put)
        self.lab.run_ms(500)

    def end(self) -> None:
        self._allowed = 4
        self.lab.run_ms(10_000)
        assert self._writing.result() == len(DATA)


def test_what_silent_nodes_of_a_pipeline_have_gives_way_to_copies() -> None:
    """When the file is deleted, one data node has its block whole. Two that were down return with a part of it under an earlier stamp."""
    half = HalfWritten(31)
    lab = half.lab
    for node in ("dn2", "dn3"):
        lab.cluster.faults.crash(node)
    half.end()
    lab.mark("one")
    lab.call(Delete("/f"))
    for node in ("dn2", "dn3"):
        lab.cluster.faults.restart(node)
    lab.run_ms(30_000)
    assert len(replicas(lab)) == 3
    lab.cluster.faults.new_disk("dn1")
    lab.cluster.faults.restart("dn1")
    lab.run_ms(30_000)
    lab.recover("one")
    assert get(lab, "/f", lab.ada) == DATA
    lab.finish()


@pytest.mark.parametrize("deleted", [False, True])
def test_an_interrupted_copy_does_not_shorten_a_block_that_was_open_at_the_barrier(deleted: bool) -> None:
    """The block is finished behind the barrier, and copied to a new disk. The next writer after the recovery finds the beginning of that copy."""
    half = HalfWritten(32)
    lab = half.lab
    lab.mark("one")
    half.end()
    if deleted:
        lab.call(Delete("/f"))

    def of_a_copy(sender: str, receiver: str, message: Message) -> bool:
        return isinstance(message, Packet) and sender in NODES and receiver == "dn1"

    held = lab.cluster.hold(of_a_copy)
    lab.cluster.faults.new_disk("dn1")
    lab.cluster.faults.restart("dn1")
    lab.run_ms(5_000)
    assert held.messages
    lab.recover("one")
    held.drop()
    written(lab, lab.ada.files.append("/f", parts_of(b"end"), force=True))
    assert get(lab, "/f", lab.ada) == DATA + b"end"
    lab.finish()
