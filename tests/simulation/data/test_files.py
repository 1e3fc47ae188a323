"""Files written and read while servers fail (CFS Fig. 10)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND
from nodes.errors import FsError
from nodes.kinds import KINDS
from nodes.metadata.operations import Delete, Mkdir, Open
from nodes.trace.block_events import WriteRefused
from nodes.wire.data_messages import Packet, ReadBlock
from tests.simulation.data.lab import DataLab, content

LENGTH = 1_000_000


def test_what_was_put_is_got() -> None:
    lab = DataLab(1)
    for number, length in enumerate((0, 1, 511, 512, 65_535, 65_536, 65_537, 300_001)):
        data = content(number, length)
        lab.put(f"/f{number}", data)
        assert lab.get(f"/f{number}") == data


def test_the_end_of_a_file_is_got_from_any_byte() -> None:
    """Blocks of 1,024, 1,024 and 700 bytes, which are read in whole chunks."""
    lab = DataLab(1)
    data = content(3, 2_748)
    task = lab.begin_put("/f", data, block_size=1_024)
    lab.until(task.done)
    for start in (0, 1, 511, 512, 1_023, 1_024, 1_500, 2_047, 2_048, 2_049, 2_747, 2_748, 5_000):
        assert lab.get("/f", start) == data[start:]


@pytest.mark.parametrize("share", [0.3, 0.6])
@pytest.mark.parametrize("seed", range(3))
def test_a_write_survives_the_crash_of_the_active(share: float, seed: int) -> None:
    lab = DataLab(seed)
    data = content(seed, LENGTH)
    task = lab.begin_put("/f", data)
    lab.until(lambda: lab.parts_given * 50_000 >= share * LENGTH)
    assert not task.done()
    lab.faults.crash(lab.active)
    lab.until(task.done)
    assert task.result() == LENGTH
    assert lab.get("/f") == data


@pytest.mark.parametrize("verb", ["crash", "power_loss", "pause", "cut"])
@pytest.mark.parametrize("block_size", [65_536, 1 << 20])
def test_a_write_survives_the_loss_of_a_data_node(verb: str, block_size: int) -> None:
    lab = DataLab(7, nodes=4)
    data = content(7, LENGTH)
    task = lab.begin_put("/f", data, block_size=block_size)
    lab.until(lambda: lab.parts_given >= 8)
    assert not task.done()
    victim = next(name for names in lab.replicas().values() or [["dn1"]] for name in names)
    lab.faults.do(verb, [victim])
    lab.until(task.done)
    assert task.result() == LENGTH and lab.get("/f") == data
    lab.until(lambda: set(lab.counts()) == {3})
    lab.mend()
    assert lab.get("/f") == data


@pytest.mark.parametrize("seed", range(3))
def test_a_large_block_goes_on_behind_what_is_acknowledged(seed: int) -> None:
    """Two of three nodes fail in the middle of one block: the third has all of it, under a later stamp."""
    lab = DataLab(seed, nodes=3)
    data = content(seed, LENGTH)
    task = lab.begin_put("/f", data, block_size=1 << 20)
    for parts, victim in ((6, "dn1"), (12, "dn2")):
        lab.until(lambda parts=parts: lab.parts_given >= parts)
        lab.faults.crash(victim)
    lab.until(task.done)
    assert task.result() == LENGTH and lab.get("/f") == data
    lab.mend()
    lab.until(lambda: lab.counts() == [3])
    lab.faults.crash("dn3")
    assert lab.get("/f") == data


def test_nothing_is_acknowledged_that_the_end_of_the_chain_lacks() -> None:
    """The first node has packets that the others lack; then it is removed."""
    lab = DataLab(4)
    data = content(4, LENGTH)
    task = lab.begin_put("/f", data, block_size=1 << 20)
    lab.until(lambda: lab.parts_given >= 5)
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is Packet and sender != "ada")
    lab.until(lambda: len(held.messages) >= 4)
    lab.faults.crash(held.messages[0][0])
    held.drop()
    lab.until(task.done)
    assert task.result() == LENGTH and lab.get("/f") == data


def test_all_data_nodes_and_the_active_crash_in_the_middle() -> None:
    lab = DataLab(3)
    data = content(3, LENGTH)
    task = lab.begin_put("/f", data, block_size=1 << 20)
    lab.until(lambda: lab.parts_given >= 9)
    for name in [*lab.data_nodes, lab.active]:
        lab.faults.crash(name)
    lab.run_ms(3_000)
    assert not task.done()
    for name in lab.data_nodes:
        lab.faults.restart(name)
    lab.until(task.done)
    assert task.result() == LENGTH and lab.get("/f") == data


@pytest.mark.parametrize(("replaced", "reported"), [(False, "ENOENT"), (True, "ESTALE")])
def test_who_reads_a_file_that_is_removed_meanwhile_is_reported_soon(replaced: bool, reported: str) -> None:
    lab = DataLab(5)
    lab.put("/f", content(5, 1_000))
    located = lab.cluster.hold(lambda sender, receiver, message: type(message) is ReadBlock)
    task = lab.begin_get("/f")
    lab.until(lambda: bool(located.messages))
    lab.ada.call(Delete("/f"))
    if replaced:
        lab.put("/f", content(6, 1_000))
    lab.until(lambda: len(lab.replicas()) == replaced)
    located.drop()
    lab.until(task.done, 3 * SECOND)
    with pytest.raises(FsError, match=reported):
        task.result()


def test_lossy_links_slow_disks_and_full_nodes_do_no_harm() -> None:
    lab = DataLab(11, nodes=4)
    lab.faults.lose("dn1", share=0.02)
    lab.faults.duplicate("dn2", share=0.05)
    lab.faults.slow_disk("dn3", 20)
    lab.cluster.add_node(KINDS["data_node"], "dn5", capacity=100_000)
    data = content(11, LENGTH)
    lab.put("/f", data)
    assert lab.get("/f") == data
    assert lab.get("/f") == data


def test_a_data_node_says_why_a_writer_goes_on_without_it() -> None:
    lab = DataLab(12, nodes=4)
    written = lab.begin_put("/f", content(12, LENGTH))
    lab.until(lambda: lab.parts_given >= 3)
    for name in lab.data_nodes[:2]:
        lab.faults.fail_disk(name)
    lab.until(written.done)
    for name in lab.data_nodes[:2]:
        lab.faults.fail_disk(name, False)
    refused = [each for each in lab.cluster.events if isinstance(each.event, WriteRefused)]
    assert refused and {each.server for each in refused} <= {*lab.data_nodes[:2]}
    assert "Input/output error" in refused[0].event.why


def test_appending_begins_a_block_of_its_own() -> None:
    lab = DataLab(2)
    parts = [content(number, 70_000) for number in range(3)]
    lab.put("/f", parts[0])
    for part in parts[1:]:
        lab.append("/f", part)
    assert lab.get("/f") == b"".join(parts)


@pytest.mark.parametrize("seed", range(4))
def test_another_client_takes_over_what_a_crashed_one_left(seed: int) -> None:
    lab = DataLab(seed)
    data = content(seed, LENGTH)
    lab.begin_put("/f", data, block_size=1 << 18)
    lab.until(lambda: lab.parts_given >= 13)
    lab.faults.crash("ada")
    lab.tasks.clear()
    with pytest.raises(FsError, match="EBUSY"):
        lab.append("/f", b"more", lab.eve)
    lab.append("/f", b"more", lab.eve, force=True)
    got = lab.get("/f")
    kept = len(got) - 4
    assert got == data[:kept] + b"more" and kept >= 500_000
    lab.run_ms(3_000)
    assert set(lab.counts()) == {3} and lab.get("/f") == got


def test_a_writer_that_lost_its_file_is_refused() -> None:
    lab = DataLab(5)
    data = content(5, LENGTH)
    task = lab.begin_put("/f", data)
    lab.until(lambda: lab.parts_given >= 6)
    lab.append("/f", b"mine now", lab.eve, force=True)
    lab.until(task.done)
    with pytest.raises(FsError, match="ESTALE"):
        task.result()
    got = lab.get("/f")
    assert got.endswith(b"mine now") and data.startswith(got[:-8])


def test_a_block_that_its_only_data_node_has_lost_ends_the_write_at_once() -> None:
    """The call's deadline is a minute; a writer that knows that the bytes are lost does not wait for it."""
    lab = DataLab(3, nodes=1)
    data = content(3, LENGTH)
    task = lab.begin_put("/f", data, block_size=1 << 22)
    lab.until(lambda: lab.parts_given >= 6)
    lab.faults.new_disk("dn1")
    lab.faults.restart("dn1")
    lab.until(task.done, 3 * SECOND)
    with pytest.raises(FsError, match=r"EIO: no data node has the .* bytes of block .* any more"):
        task.result()
    lab.append("/f", b"more", lab.eve, force=True)
    assert lab.get("/f") == b"more"


@pytest.mark.parametrize("seed", range(3))
def test_whoever_reads_a_file_whose_writer_died_sees_its_finished_blocks(seed: int) -> None:
    """No client was told that more is safe. The length stays, over a failover too, until an append; then the rest counts."""
    lab = DataLab(seed, session_ttl_ms=3_000)
    data = content(seed, LENGTH)
    lab.begin_put("/f", data, block_size=1 << 18)
    lab.until(lambda: lab.parts_given >= 13)
    lab.faults.crash("ada")
    lab.tasks.clear()
    lab.eve.call(Mkdir("/eve"))
    opened: Any = lab.eve.call(Open("/f")).result
    assert opened.writing
    lab.run_ms(6_000)
    opened = lab.eve.call(Open("/f")).result
    finished = sum(block.length for block in opened.blocks)
    assert not opened.writing and opened.length == finished == 2 << 18
    assert lab.get("/f") == data[:finished]
    lab.faults.crash(lab.active)
    lab.await_next_active()
    assert lab.get("/f") == data[:finished] and lab.eve.call(Open("/f")).result == opened
    lab.append("/f", b"more", lab.eve)
    kept = len(lab.get("/f")) - 4
    assert lab.get("/f") == data[:kept] + b"more" and kept > finished


def test_a_slow_reader_outlives_a_short_loss_of_its_links() -> None:
    """It has read the block for longer than it may wait for one part."""
    lab = DataLab(6, nodes=3)
    data = content(6, LENGTH)
    lab.put("/f", data, block_size=1 << 20)
    world: Any = lab.cluster.servers["eve"].world
    parts: list[bytes] = []

    async def gather() -> None:
        async for part in lab.eve.files.get("/f"):
            parts.append(part)
            await world.clock.sleep(6 * SECOND)

    task = lab.eve.begin(gather())
    lab.until(lambda: len(parts) >= 12)
    lab.faults.cut("eve")
    lab.run_ms(9_000)
    lab.faults.heal("eve")
    lab.until(task.done)
    task.result()
    assert b"".join(parts) == data
