"""A data node whose disk fails while it removes a replica: the replica is removed once the disk works again."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import Delete, SetReplication
from nodes.trace.block_events import ReplicaRemoved
from nodes.trace.events import Warned
from tests.simulation.data.lab import DataLab
from tests.simulation.data.test_old_knowledge import DATA, stored


def thinned_in_vain() -> DataLab:
    """A file of three replicas is given two, and no data node can remove one at first."""
    lab = stored(5)
    for name in lab.data_nodes:
        lab.faults.fail_disk(name, what="write", times=1)
    lab.ada.call(SetReplication("/f", 2))
    return lab


def failures(lab: DataLab) -> list[str]:
    """The data nodes that could not remove a replica."""
    events = [(stamped.server, stamped.event) for stamped in lab.cluster.events]
    return [name for name, event in events if type(event) is Warned and "is not removed" in event.what]


@pytest.mark.parametrize("times", [1, 3])
def test_a_deleted_file_leaves_no_replica(times: int) -> None:
    lab = stored(times)
    lab.faults.fail_disk("dn1", what="write", times=times)
    lab.ada.call(Delete("/f"))
    lab.run_ms(5_000)
    assert failures(lab) == ["dn1"] and lab.files_on_disks() == 0


def test_a_deleted_file_leaves_no_replica_after_a_takeover() -> None:
    lab = stored(4)
    lab.faults.fail_disk("dn1")
    lab.ada.call(Delete("/f"))
    lab.run_ms(5_000)
    assert failures(lab) == ["dn1"] and lab.replicas()
    lab.faults.crash(lab.active)
    lab.await_next_active()
    lab.faults.fail_disk("dn1", False)
    lab.run_ms(10_000)
    assert failures(lab) == ["dn1"] and lab.files_on_disks() == 0


def test_an_excess_replica_is_removed_and_no_other_one_with_it() -> None:
    lab = thinned_in_vain()
    lab.run_ms(10_000)
    removed = [each.server for each in lab.cluster.events if type(each.event) is ReplicaRemoved]
    assert removed == failures(lab) and len(removed) == 1
    assert lab.counts() == [2] and lab.files_on_disks() == 4 and lab.get("/f") == DATA


def test_what_was_to_be_removed_counts_no_more() -> None:
    lab = thinned_in_vain()
    lab.run_ms(3_000)
    (failed,) = failures(lab)
    lab.ada.call(SetReplication("/f", 3))
    lab.run_ms(15_000)
    for name in lab.data_nodes:
        if name != failed:
            lab.faults.crash(name)
    assert lab.get("/f") == DATA
