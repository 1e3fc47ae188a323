"""Reactions of the active to reports: it copies, trims and removes replicas, and reports missing blocks."""

from __future__ import annotations

import pytest

from nodes.errors import FsError
from nodes.metadata.operations import Delete, Mkdir, SetReplication
from nodes.protocols.mams.renewal import DIRECT_GAP
from nodes.storage.chunks import sums_of
from nodes.trace.block_events import ReplicaDamaged, ReplicaRemoved
from nodes.trace.events import Renewing
from nodes.wire.data_messages import (
    FINAL,
    WRITING,
    Changes,
    FullReport,
    Heartbeat,
    Packet,
    Remove,
    WriteBlock,
    WriteOpened,
)
from nodes.wire.messages import Message
from tests.simulation.data.lab import DataLab, content

BYTES = content(0, 300_000)


def stored(seed: int, nodes: int = 4) -> DataLab:
    lab = DataLab(seed, nodes)
    lab.put("/f", BYTES)
    lab.until(lambda: lab.counts() == [3] * 5)
    lab.run_ms(7_000)
    return lab


def reasons(lab: DataLab) -> set[str]:
    return {s.event.removal for s in lab.cluster.events if type(s.event) is ReplicaRemoved}


def test_nothing_happens_while_all_is_well() -> None:
    lab = stored(1)
    lab.run_ms(20_000)
    assert lab.counts() == [3] * 5 and lab.health() == {} and reasons(lab) == set()


@pytest.mark.parametrize("seed", range(3))
def test_a_dead_node_is_replaced_and_trimmed_when_it_is_back(seed: int) -> None:
    lab = stored(seed)
    victim = max(lab.data_nodes, key=lambda name: sum(name in each for each in lab.replicas().values()))
    lab.faults.crash(victim)
    assert min(lab.counts()) == 2
    lab.until(lambda: lab.counts() == [3] * 5)
    assert "under" in lab.health().values()
    lab.faults.restart(victim)
    assert lab.get("/f") == BYTES
    lab.until(lambda: "excess" in reasons(lab) and lab.counts() == [3] * 5)
    lab.run_ms(5_000)
    assert set(lab.health().values()) == {"whole"} and lab.get("/f") == BYTES


@pytest.mark.parametrize("nodes", [3, 4])
def test_a_damaged_replica_is_found_without_a_reader_and_replaced(nodes: int) -> None:
    lab = stored(2, nodes)
    holder = next(iter(lab.replicas().values()))[0]
    lab.faults.corrupt(holder, "block")
    lab.until(lambda: "damaged" in reasons(lab) and lab.counts() == [3] * 5)
    assert any(type(s.event) is ReplicaDamaged and s.server == holder for s in lab.cluster.events)
    assert lab.get("/f") == BYTES


def test_a_reader_goes_to_another_replica() -> None:
    lab = stored(3)
    for name in lab.data_nodes[:2]:
        if any(name in each for each in lab.replicas().values()):
            lab.faults.corrupt(name, "block")
    assert lab.get("/f") == BYTES


def test_what_nobody_has_is_missing_and_is_back_with_its_nodes() -> None:
    lab = stored(4, nodes=3)
    for name in lab.data_nodes:
        lab.faults.crash(name)
    lab.until(lambda: list(lab.health().values()) == ["missing"] * 5)
    reading = lab.eve.begin(lab.eve.files.get("/f").__anext__())
    lab.until(reading.done)
    with pytest.raises(FsError, match="EIO"):
        reading.result()
    for name in lab.data_nodes:
        lab.faults.restart(name)
    lab.until(lambda: set(lab.health().values()) == {"whole"})
    assert lab.get("/f") == BYTES


def test_a_deleted_file_frees_its_blocks() -> None:
    lab = stored(5)
    lab.ada.call(Delete("/f"))
    lab.until(lambda: lab.counts() == [])
    assert reasons(lab) == {"freed"}


@pytest.mark.parametrize(("dead", "health"), [(["dn1"], "under"), (["dn1", "dn2", "dn3"], "missing")])
def test_who_was_reported_that_a_block_is_not_well_is_reported_that_it_is_freed(
    dead: list[str], health: str
) -> None:
    lab = stored(5, nodes=3)
    for name in dead:
        lab.faults.crash(name)
    lab.until(lambda: list(lab.health().values()) == [health] * 5)
    lab.ada.call(Delete("/f"))
    lab.until(lambda: set(lab.health().values()) == {"freed"})


def test_replication_follows_what_is_set() -> None:
    lab = stored(6)
    lab.ada.call(SetReplication("/f", 4))
    lab.until(lambda: lab.counts() == [4] * 5)
    lab.ada.call(SetReplication("/f", 1))
    lab.until(lambda: lab.counts() == [1] * 5)
    assert lab.get("/f") == BYTES


@pytest.mark.parametrize("seed", range(3))
def test_the_new_active_knows_at_once(seed: int) -> None:
    """Standbys receive reports, too: a failover collects none, and no replica is touched."""
    lab = stored(seed)
    lab.faults.crash(lab.active)
    held = lab.cluster.hold(
        lambda sender, receiver, message: (
            receiver.startswith("mds") and isinstance(message, FullReport | Changes)
        )
    )
    lab.await_next_active()
    assert lab.get("/f") == BYTES
    held.release()
    lab.run_ms(10_000)
    assert lab.counts() == [3] * 5 and lab.health() == {} and reasons(lab) == set()


def test_a_whole_cluster_that_starts_again_copies_nothing() -> None:
    lab = stored(8)
    names = [*lab.cluster.view(), *lab.data_nodes]
    for name in names:
        lab.faults.power_loss(name)
    for name in names:
        lab.faults.restart(name)
    lab.finish()
    lab.run_ms(20_000)
    assert lab.counts() == [3] * 5 and lab.health() == {} and lab.get("/f") == BYTES


def test_a_metadata_server_added_later_is_reported_everything() -> None:
    lab = stored(9)
    lab.faults.add_server("g1")
    lab.until(lambda: lab.cluster.view().get("mds5") == "S")
    for name in list(lab.cluster.view())[:3]:
        lab.faults.crash(name)
        lab.run_ms(12_000)
    assert lab.get("/f") == BYTES


def test_a_data_node_that_starts_again_is_received_by_a_server_that_was_added_later() -> None:
    lab = stored(16, nodes=3)
    lab.faults.add_server("g1")
    lab.until(lambda: lab.cluster.view().get("mds5") == "S")
    for name in lab.data_nodes:
        lab.faults.crash(name)
        lab.faults.restart(name)
    lab.run_ms(10_000)
    while lab.active != "mds5":
        lab.faults.take_lock("g1")
        lab.await_next_active()
        lab.run_ms(3_000)
    lab.run_ms(10_000)
    assert lab.health() == {} and lab.get("/f") == BYTES
    lab.eve.call(Delete("/f"))
    lab.until(lambda: lab.counts() == [])


def test_a_deletion_that_a_failover_takes_back_costs_no_replica() -> None:
    lab = stored(10)
    lab.hold_journals(*lab.standbys)
    lab.begin(lab.ada, Delete("/f"))
    lab.run_ms(450)
    lab.faults.crash(lab.active)
    lab.faults.cut("ada")
    for held in list(lab.cluster.net.holds):
        held.drop()
    lab.await_next_active()
    lab.run_ms(3_000)
    assert lab.get("/f") == BYTES and lab.counts() == [3] * 5 and reasons(lab) == set()


def test_commands_of_an_earlier_epoch_and_about_another_state_are_void() -> None:
    lab = stored(11)
    beats = {name: lab.copies(Heartbeat, name) for name in lab.cluster.view()}
    lab.faults.crash(lab.active)
    lab.await_next_active()
    lab.run_ms(3_000)
    lives = {name: beat for copied in beats.values() for name, _, beat in copied}
    path, holders = next(iter(lab.replicas().items()))
    block = int(path[7:23], 16)

    def order(name: str, epoch: int = 2, stamp: int = 1, state: int = FINAL, **life: int) -> None:
        """As the active would order it now, except for what is given."""
        known = {"boot": lives[name].boot, "version": lives[name].version} | life
        lab.cluster.net.carry("mds1", name, [Remove(epoch, [(block, stamp, state)], "excess", **known)])

    for name in holders:
        order(name, epoch=1)
        order(name, state=WRITING)
        order(name, stamp=2)
        order(name, boot=lives[name].boot + 1)
        order(name, version=0)
    lab.run_ms(1_000)
    assert lab.counts() == [3] * 5 and lab.health() == {}
    order(holders[0])
    lab.until(lambda: reasons(lab) == {"excess"} and lab.counts() == [3] * 5)


def test_excess_waits_until_every_holder_obeys_the_new_active() -> None:
    """An earlier active may have ordered the removal of some replicas: while its commands are on the way, another choice could remove the last
    one."""
    lab = stored(12)
    deaf = next(iter(lab.replicas().values()))[0]
    lab.cluster.hold(lambda sender, receiver, message: receiver == deaf and sender.startswith("mds"))
    lab.faults.crash(lab.active)
    lab.await_next_active()
    lab.eve.call(SetReplication("/f", 1))
    lab.run_ms(10_000)
    assert all(len(names) == 3 for names in lab.replicas().values() if deaf in names)
    for held in list(lab.cluster.net.holds):
        held.drop()
    lab.until(lambda: lab.counts() == [1] * 5)


def test_what_a_crashed_writer_left_behind_is_removed_with_its_file() -> None:
    lab = stored(13)
    task = lab.begin_put("/g", content(1, 1_000_000), block_size=1 << 20)
    lab.until(lambda: lab.parts_given >= 9)
    lab.faults.crash("ada")
    lab.tasks.remove(task)
    assert lab.files_on_disks() == 5 * 3 * 2 + 3
    lab.eve.call(Delete("/g"))
    lab.until(lambda: lab.files_on_disks() == 5 * 3 * 2)


def test_a_junior_that_read_the_image_knows_the_blocks_of_files() -> None:
    lab = DataLab(14, image_gap=5)
    behind = lab.standbys[0]
    lab.faults.crash(behind)
    lab.put("/f", BYTES)
    lab.until(lambda: lab.cluster.view()[behind] == "-")
    for number in range(DIRECT_GAP):
        lab.eve.call(Mkdir(f"/d{number}"))
    lab.faults.restart(behind)
    lab.until(lambda: lab.cluster.view()[behind] == "J")
    lab.until(lambda: lab.cluster.view()[behind] == "S")
    phases = [s.event.phase for s in lab.cluster.events if s.server == behind and type(s.event) is Renewing]
    assert phases[0] == "image"
    while lab.active != behind:
        lab.faults.take_lock("g1")
        lab.await_next_active()
        lab.run_ms(3_000)
    assert lab.get("/f") == BYTES
    lab.append("/f", b"more", lab.eve)
    assert lab.get("/f") == BYTES + b"more"


def test_blocks_that_nobody_allocated_are_refused_or_removed() -> None:
    lab = stored(15)
    answers: list[WriteOpened] = []

    def note(sender: str, receiver: str, message: Message) -> bool:
        if type(message) is WriteOpened and receiver == "ada":
            answers.append(message)
        return False

    lab.cluster.hold(note)
    foreign, unknown = (9 << 48) | 1, (1 << 48) | 999
    for block in (foreign, unknown):
        opening = WriteBlock(block, 1, 0, [], {}, 1)
        lab.cluster.net.carry("ada", "dn1", [opening, Packet(block, 1, 0, b"x", sums_of(b"x"), True)])
    lab.until(lambda: len(answers) == 2)
    assert {answer.block: answer.refused[:8] for answer in answers} == {foreign: "no group", unknown: ""}
    lab.until(lambda: reasons(lab) == {"freed"})
    assert lab.counts() == [3] * 5
