"""A copy under way on a data node: it is neither reported nor counted, and any crash leaves it whole or not at all."""

from __future__ import annotations

import pytest

from nodes.config import MILLISECOND
from nodes.trace.block_events import ReplicaStored
from nodes.wire.data_messages import AskReplica, Changes, FullReport, Packet, ReplicaIs
from nodes.wire.messages import Message
from tests.simulation.data.lab import DataLab, content
from tests.simulation.data.test_refusals import answers, send

DATA = content(0, 60_000)


class Copied(DataLab):
    """A file of one block with two replicas, one of which was on a disk that is replaced."""

    def __init__(self, seed: int):
        super().__init__(seed, 2)
        self.put("/f", DATA)
        self.until(lambda: self.counts() == [2])
        self.run_ms(7_000)
        (path,) = self.replicas()
        self.block = int(path[7:23], 16)
        self.target = self.data_nodes[seed % 2]
        self._until_then = len(self.cluster.events)
        self.faults.new_disk(self.target)
        self.faults.restart(self.target)

    def names(self) -> set[str]:
        """The endings of the block's files at the target."""
        return {path[-3:] for path in self.cluster.servers[self.target].store.files if path[:7] == "blocks/"}

    def stored(self) -> bool:
        events = list(self.cluster.events)[self._until_then :]
        return any(each.server == self.target and type(each.event) is ReplicaStored for each in events)


def test_a_copy_is_neither_answered_nor_reported_before_it_is_whole() -> None:
    lab = Copied(1)
    reported: list[int] = []

    def note(sender: str, receiver: str, message: Message) -> bool:
        if sender == lab.target and isinstance(message, Changes | FullReport):
            reported.extend(row.block for row in message.rows)
        return False

    lab.cluster.hold(note)
    held = lab.cluster.hold(lambda sender, receiver, message: isinstance(message, Packet) and message.last)
    lab.until(lambda: bool(held.messages))
    lab.run_ms(300)
    assert lab.names() == {"cpy"} and reported == []
    found = answers(lab, "eve")
    send(lab, "eve", lab.target, AskReplica(1, lab.block))
    lab.run_ms(300)
    assert [each.stamp for each in found if isinstance(each, ReplicaIs)] == [0]
    lab.cluster.net.holds[-1].drop()
    held.release()
    lab.until(lambda: lab.counts() == [2])
    lab.run_ms(300)
    assert lab.names() == {"blk", "rep"} and set(reported) == {lab.block}


@pytest.mark.parametrize("fault", ["crash", "power_loss"])
@pytest.mark.parametrize(("after_ms", "named"), [(10, "cpy"), (45, "cpy"), (75, "blk")])
@pytest.mark.parametrize("seed", range(4))
def test_a_crash_while_a_copy_is_made_whole(fault: str, after_ms: int, named: str, seed: int) -> None:
    """During the sync, the renaming, and the writing of the state, each of which takes 30 ms. The other node falls silent for good."""
    lab = Copied(seed)
    lab.until(lambda: "cpy" in lab.names())
    store = lab.cluster.servers[lab.target].store
    store.slow_ns = 30 * MILLISECOND
    lab.run_ms(after_ms)
    assert lab.names() == {named} and not lab.stored()
    lab.faults.do(fault, [lab.target])
    store.slow_ns = 0
    lab.faults.restart(lab.target)
    lab.until(lambda: lab.counts() == [2])
    lab.run_ms(3_000)
    assert lab.names() == {"blk", "rep"}
    (other,) = set(lab.data_nodes) - {lab.target}
    lab.faults.crash(other)
    assert lab.get("/f") == DATA
