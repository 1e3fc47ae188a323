"""Blocks that only a checkpoint names are copied like those of files when data nodes lose them (safety rule 14)."""

from __future__ import annotations

from random import Random

import pytest

from nodes.config import DataConfig
from nodes.metadata.operations import Delete
from nodes.trace.block_events import ReplicaRemoved
from nodes.wire.data_messages import Packet, Replicate
from nodes.wire.messages import Message
from tests.simulation.recovery.content import get, put
from tests.simulation.recovery.lab import Checkpoints

KEPT = Random(1).randbytes(150_000)


class KeptBlocks(Checkpoints):
    """The file is deleted after the checkpoint `one`, which alone names its blocks."""

    def __init__(self, seed: int, groups: int = 1, nodes: int = 3):
        self.nodes = [f"dn{number}" for number in range(1, nodes + 1)]
        super().__init__(seed, groups, 2, placement="random", data=DataConfig(nodes=self.nodes))
        self.orders: list[int] = []
        """The block of each order to copy one."""
        put(self, "/kept", KEPT)
        self.mark("one")
        self.cluster.hold(self._note)
        self.call(Delete("/kept"))
        self.run_ms(12_000)
        self.blocks = set(self.held())

    def _note(self, sender: str, receiver: str, message: Message) -> bool:
        if isinstance(message, Replicate):
            self.orders.append(message.block)
        return False

    def held(self) -> dict[int, list[str]]:
        """The running data nodes with a whole replica, by block."""
        found: dict[int, list[str]] = {}
        for name in self.nodes:
            server = self.cluster.servers[name]
            for path in server.store.files if server.process == "running" else ():
                if path.startswith("blocks/") and path.endswith(".rep"):
                    found.setdefault(int(path[7:23], 16), []).append(name)
        return found

    def counts(self) -> set[int]:
        held = self.held()
        return {len(held.get(block, [])) for block in self.blocks}

    def replace_disk(self, node: str) -> None:
        self.cluster.faults.new_disk(node)
        self.cluster.faults.restart(node)

    def removals(self) -> set[str]:
        return {event.removal for event in self.reported(ReplicaRemoved)}


@pytest.mark.parametrize("groups", [1, 2])
def test_a_checkpoint_outlives_all_disks_replaced_one_after_another(groups: int) -> None:
    lab = KeptBlocks(21, groups)
    for node in lab.nodes:
        lab.replace_disk(node)
        lab.run_ms(30_000)
    lab.recover("one")
    assert get(lab, "/kept") == KEPT
    lab.finish()


def test_each_lost_replica_is_copied_once() -> None:
    lab = KeptBlocks(22)
    assert lab.orders == []
    lab.cluster.faults.crash("dn1")
    lab.run_ms(30_000)
    assert lab.orders == []
    lab.replace_disk("dn1")
    lab.run_ms(60_000)
    assert lab.counts() == {3} and sorted(lab.orders) == sorted(lab.blocks)
    lab.finish()


def test_none_is_excess_until_the_checkpoint_is_deleted() -> None:
    """A data node that was silent returns with a fourth replica of some blocks. It stays; without the checkpoint all go."""
    lab = KeptBlocks(23, nodes=4)
    lab.cluster.faults.crash("dn1")
    lab.run_ms(30_000)
    assert lab.counts() == {3}
    lab.cluster.faults.restart("dn1")
    lab.run_ms(30_000)
    assert max(lab.counts()) == 4 and lab.removals() == set()
    lab.ask({"do": "delete_checkpoint", "name": "one"})
    lab.run_ms(12_000)
    assert lab.held() == {} and lab.removals() == {"freed"}
    lab.finish()


def test_a_new_active_copies_them() -> None:
    lab = KeptBlocks(24)
    lab.replace_disk("dn2")
    lab.cluster.faults.crash(lab.active(1))
    lab.run_ms(60_000)
    assert lab.counts() == {3}
    lab.finish()


def test_a_damaged_replica_is_replaced() -> None:
    lab = KeptBlocks(25)
    lab.cluster.faults.corrupt("dn3", "block")
    lab.run_ms(60_000)
    assert lab.removals() == {"damaged"} and lab.counts() == {3}
    lab.recover("one")
    assert get(lab, "/kept") == KEPT
    lab.finish()


def test_what_an_interrupted_copy_left_behind_is_replaced() -> None:
    lab = KeptBlocks(26)
    held = lab.cluster.hold(lambda sender, receiver, message: isinstance(message, Packet))
    lab.replace_disk("dn1")
    lab.run_ms(20_000)
    assert lab.counts() == {2}
    held.drop()
    lab.run_ms(120_000)
    assert lab.counts() == {3}
    lab.finish()


def test_a_recovery_while_they_are_copied() -> None:
    lab = KeptBlocks(27)
    held = lab.cluster.hold(lambda sender, receiver, message: isinstance(message, Packet))
    lab.replace_disk("dn1")
    lab.run_ms(5_000)
    lab.recover("one")
    held.release()
    lab.run_ms(60_000)
    assert lab.counts() == {3}
    assert get(lab, "/kept") == KEPT
    lab.finish()
