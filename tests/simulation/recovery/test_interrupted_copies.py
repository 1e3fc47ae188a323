"""A copy of a replica that was interrupted is no replica: no writer that takes the file over counts it, and no recovery leaves it behind."""

from __future__ import annotations

from random import Random

import pytest

from nodes.config import SECOND
from nodes.errors import FsError
from nodes.wire.data_messages import Packet
from nodes.wire.messages import Message
from tests.simulation.recovery.content import NODES, disk, get, parts_of, put, with_data, written
from tests.simulation.recovery.lab import Checkpoints
from tests.simulation.recovery.test_kept_leftovers import DATA, HalfWritten

BYTES = 100_000


class OnlyACopyAnswers:
    """A block that was open at the barrier is whole on dn2 and dn3. Dn1 has the first packet of a copy when the cluster has recovered and the two
    others fall silent."""

    def __init__(self, how: str):
        half = HalfWritten(32)
        self.lab = half.lab
        self._how = how
        self._sent = 0
        self.lab.mark("one")
        half.end()
        held = self.lab.cluster.hold(self._behind_the_first_packet)
        self.lab.cluster.faults.new_disk("dn1")
        self.lab.cluster.faults.restart("dn1")
        self.lab.run_ms(5_000)
        assert held.messages
        self.lab.recover("one")
        for node in ("dn2", "dn3"):
            self.lab.cluster.faults.do(how, [node])
        held.drop()

    def _behind_the_first_packet(self, sender: str, receiver: str, message: Message) -> bool:
        if not (isinstance(message, Packet) and sender in NODES and receiver == "dn1"):
            return False
        self._sent += 1
        return self._sent > 1

    def refusal(self, force: bool) -> str:
        with pytest.raises(FsError) as caught:
            self.append(b"end", force)
        return str(caught.value)

    def append(self, data: bytes, force: bool) -> None:
        written(self.lab, self.lab.ada.files.append("/f", parts_of(data), force=force))

    def bring_back(self) -> None:
        for node in ("dn2", "dn3"):
            self.lab.cluster.faults.do("restart" if self._how == "crash" else "resume", [node])
        self.lab.run_ms(10_000)


@pytest.mark.parametrize("how", ["crash", "pause"])
@pytest.mark.parametrize("wait_ms", [10, 1_000])
def test_no_writer_takes_the_block_over_by_force_while_live_nodes_are_silent(how: str, wait_ms: int) -> None:
    cluster = OnlyACopyAnswers(how)
    cluster.lab.run_ms(wait_ms)
    assert "no data node answers that has the unfinished block" in (line := cluster.refusal(force=True))
    assert line.endswith(": dn2, dn3 had it")
    cluster.bring_back()
    cluster.append(b"end", force=True)
    assert get(cluster.lab, "/f", cluster.lab.ada) == DATA + b"end"
    cluster.lab.finish()


@pytest.mark.parametrize("how", ["crash", "pause"])
@pytest.mark.parametrize("wait_ms", [10, 20_000])
def test_no_writer_takes_it_over_when_the_former_one_has_closed_its_session(how: str, wait_ms: int) -> None:
    cluster = OnlyACopyAnswers(how)
    closing = cluster.lab.eve.begin(cluster.lab.eve.client.close())
    cluster.lab.cluster.run_until(closing.done, 10 * SECOND)
    cluster.lab.run_ms(wait_ms)
    assert cluster.refusal(force=False).startswith("EIO: no data node answers")
    cluster.bring_back()
    cluster.append(b"end", force=True)
    assert get(cluster.lab, "/f", cluster.lab.ada) == DATA + b"end"
    cluster.lab.finish()


def test_force_gives_a_block_up_that_no_live_node_has() -> None:
    cluster = OnlyACopyAnswers("crash")
    cluster.lab.run_ms(20_000)
    cluster.append(b"end", force=True)
    assert get(cluster.lab, "/f", cluster.lab.ada) == b"end"
    cluster.bring_back()
    cluster.lab.finish()


@pytest.mark.parametrize("arrives", ["before", "after"])
def test_a_copy_of_a_block_behind_the_barrier_does_not_outlive_the_recovery(arrives: str) -> None:
    """The rest of the copy arrives when the data node has quarantined what it has."""
    lab: Checkpoints = with_data(18, 1)
    put(lab, "/a", Random(1).randbytes(BYTES))
    lab.mark("one")
    at_barrier = disk(lab, "dn2", "blocks")
    put(lab, "/b", Random(2).randbytes(BYTES))
    lab.run_ms(7_000)

    def of_a_copy(sender: str, receiver: str, message: Message) -> bool:
        return isinstance(message, Packet) and sender in NODES and receiver == "dn1"

    held = lab.cluster.hold(of_a_copy)
    lab.cluster.faults.new_disk("dn1")
    lab.cluster.faults.restart("dn1")
    lab.cluster.run_until(lambda: len(held.messages) >= 4, 20 * SECOND)
    if arrives == "before":
        held.release()
    lab.recover("one")
    lab.run_ms(3_000)
    if arrives == "after":
        held.release()
    lab.run_ms(30_000)
    assert set(disk(lab, "dn1", "blocks")) == set(at_barrier)
    assert get(lab, "/a") == Random(1).randbytes(BYTES)
    lab.finish()
