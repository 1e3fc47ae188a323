"""Impossible reports and requests: refused in one line, and no stored state changes."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.metadata.operations import Delete
from nodes.trace.block_events import ReplicaRemoved, ReplicaStored
from nodes.trace.events import Stopped, Warned
from nodes.wire.data_messages import (
    DAMAGED,
    FINAL,
    AskReplica,
    BlockRead,
    Changes,
    FullReport,
    Heartbeat,
    HeartbeatAck,
    Locate,
    Located,
    Packet,
    PacketAcked,
    ReadBlock,
    Remove,
    ReplicaIs,
    ReplicaRow,
    Replicate,
    Void,
    WantReport,
    WriteBlock,
    WriteOpened,
)
from nodes.wire.messages import Message
from tests.simulation.data.lab import DataLab, content

BYTES = content(0, 100_000)
FIRST = (1 << 48) | 1
NOBODYS = (1 << 48) | 0x7777
"""A block that no server has allocated."""


def stored(seed: int) -> DataLab:
    lab = DataLab(seed, standbys=1)
    lab.put("/f", BYTES)
    lab.run_ms(7_000)
    return lab


def send(lab: DataLab, sender: str, receiver: str, *messages: Message) -> None:
    server = lab.cluster.servers[sender]
    assert server.machine is not None and server.world is not None
    for message in messages:
        server.machine.call(server.world.network.send, receiver, message)


def answers(lab: DataLab, receiver: str) -> list[Any]:
    """Collects the messages to a server from now on; the server does not receive them."""
    found: list[Any] = []

    def take(sender: str, to: str, message: Message) -> bool:
        if to == receiver:
            found.append(message)
        return to == receiver

    lab.cluster.hold(take)
    return found


def lines(lab: DataLab) -> set[str]:
    return {s.event.what for s in lab.cluster.events if type(s.event) is Warned}


def unharmed(lab: DataLab) -> None:
    lab.run_ms(9_000)
    assert not [s for s in lab.cluster.events if type(s.event) is Stopped]
    assert lab.counts() == [3] * 2 and lab.health() == {} and lab.get("/f") == BYTES


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (ReplicaRow(FIRST, 1, 1 << 60, FINAL), "with 1152921504606846976 bytes; 134217728 are the most"),
        (ReplicaRow(FIRST, 1, -1, FINAL), "with -1 bytes"),
        (ReplicaRow((9 << 48) | 1, 1, 5, FINAL), "reports block 9000000000001, which is none of this group"),
        (ReplicaRow(-4, 1, 5, FINAL), "none of this group"),
        (ReplicaRow(FIRST, 0, 5, FINAL), "with stamp 0 in state 1"),
        (ReplicaRow(FIRST, 1, 5, 7), "with stamp 1 in state 7"),
    ],
)
@pytest.mark.parametrize("full", [True, False])
def test_a_report_that_cannot_be_true_is_refused_as_a_whole(row: ReplicaRow, says: str, full: bool) -> None:
    lab = stored(1)
    lab.cluster.hold(lambda sender, receiver, message: sender == "dn1" and type(message) is Heartbeat)
    beat = Heartbeat(77, 0, "dn1:1", 1 << 40, 0, 1)
    bad = ReplicaRow((1 << 48) | 99, 1, 5, DAMAGED)
    report: Message = FullReport(77, 0, 0, 1, [bad, row]) if full else Changes(77, 0, 1, [bad, row], [FIRST])
    send(lab, "dn1", lab.active, beat, report)
    lab.run_ms(1_000)
    [line] = lines(lab)
    assert (
        line.startswith("dn1 reports block") and says in line and line.endswith("its report is not believed")
    )
    lab.cluster.net.holds[0].drop()
    lab.faults.crash("dn1")
    lab.faults.restart("dn1")
    unharmed(lab)


def test_who_is_no_data_node_of_the_cluster_is_not_believed() -> None:
    lab = stored(2)
    reported = FullReport(5, 0, 0, 1, [ReplicaRow(FIRST, 1, 65_536, FINAL), ReplicaRow(NOBODYS, 1, 5, FINAL)])
    send(lab, "eve", lab.active, Heartbeat(5, 0, "nowhere", 1 << 62, 0, 1), reported)
    lab.run_ms(1_000)
    assert lines(lab) == {
        "eve reports like a data node and is none of this cluster: its report is not believed"
    }
    unharmed(lab)


def test_a_beat_that_cannot_be_true_is_none() -> None:
    lab = stored(3)
    send(lab, "dn1", lab.active, Heartbeat(5, 0, "nowhere", -5, -7, 1))
    lab.run_ms(500)
    assert lines(lab) == {"dn1 says that -7 of -5 bytes are used: its report is not believed"}
    unharmed(lab)


def test_a_block_that_nobody_gave_away_is_nowhere() -> None:
    """Requests to a metadata server and to a data node."""
    lab = stored(4)
    found = answers(lab, "eve")
    send(lab, "eve", lab.active, Locate(9, [NOBODYS, -1, 0, (9 << 48) | 1]))
    send(lab, "eve", "dn1", AskReplica(1, NOBODYS), AskReplica(2, -1), ReadBlock(3, NOBODYS, 1, 0, 512))
    lab.run_ms(500)
    assert [m.places for m in found if isinstance(m, Located)] == [[[], [], [], []]]
    assert [m.stamp for m in found if isinstance(m, ReplicaIs)] == [0, 0]
    assert [m.refused for m in found if isinstance(m, BlockRead)] == [f"block {NOBODYS:016x} is not here"]
    lab.cluster.net.holds[0].drop()
    unharmed(lab)


def test_a_block_that_nobody_gave_away_is_removed_when_it_was_written() -> None:
    lab = stored(5)
    send(lab, "eve", "dn1", WriteBlock(NOBODYS, 1, 0, [], {}, 0))
    lab.run_ms(100)
    send(lab, "eve", "dn1", Packet(NOBODYS, 1, 0, b"", b"", True))

    def reported(kind: type) -> bool:
        return any(type(s.event) is kind and s.event.block == NOBODYS for s in lab.cluster.events)

    lab.until(lambda: reported(ReplicaStored) and reported(ReplicaRemoved))
    assert f"blocks/{NOBODYS:016x}.blk" not in lab.cluster.servers["dn1"].store.files
    unharmed(lab)


def test_what_a_data_node_cannot_do_it_refuses_in_one_line() -> None:
    lab = stored(6)
    found = answers(lab, "eve")
    send(
        lab, "eve", "dn1",
        WriteBlock((9 << 48) | 1, 1, 0, [], {}, 0), WriteBlock(-1, 1, 0, [], {}, 0),
        WriteBlock(FIRST, 1, -5, ["dn1"], {}, 0), WriteBlock(FIRST, 1, 0, [], {}, 0),
        WriteBlock(NOBODYS, 1, 512, [], {}, 0), Packet(NOBODYS, 1, 0, b"x", b"\0" * 4, False),
        ReadBlock(4, FIRST, 1, -512, 1 << 40), ReadBlock(5, FIRST, 9, 0, 512),
        Remove(0, [(FIRST, 1, FINAL)], "freed"), Remove(-1, [(FIRST, 1, FINAL)], "freed"),
        HeartbeatAck(1, 0, Void(5, [(0, 1 << 60)])), HeartbeatAck(77, 1, Void(5, [(0, 1 << 60)])),
    )  # fmt: skip
    lab.run_ms(500)
    refusals = [
        m.refused for m in found if isinstance(m, WriteOpened | PacketAcked | BlockRead) and m.refused
    ]
    assert len(refusals) == 7 and not any("\n" in line for line in refusals), refusals
    lab.cluster.net.holds[0].drop()
    unharmed(lab)


ABSURD = 1 << 60


def removes(lab: DataLab) -> bool:
    """Whether the active's commands still arrive: the blocks of a deleted file leave every disk."""
    lab.ada.call(Delete("/f"))
    lab.run_ms(10_000)
    return lab.counts() == []


def test_a_writers_absurd_epoch_does_not_make_a_data_node_deaf() -> None:
    """Neither for an unallocated block nor for an existing one."""
    lab = stored(7)
    for name in lab.data_nodes:
        send(
            lab,
            "eve",
            name,
            WriteBlock(NOBODYS, 1, 0, [], {}, ABSURD),
            WriteBlock(FIRST, 1, 0, [], {}, ABSURD),
        )
    lab.run_ms(1_000)
    assert removes(lab)
    lab.run_ms(10_000)
    assert lab.files_on_disks() == 0, "nor for ever for the block that was named with it"


@pytest.mark.parametrize(
    "command",
    [
        HeartbeatAck(1, ABSURD, Void()),
        HeartbeatAck(1, ABSURD, Void(5, [(0, 1 << 60)])),
        Remove(ABSURD, [(FIRST, 1, FINAL)], "freed"),
        Replicate(ABSURD, FIRST, 1, "dn2", ""),
    ],
)
def test_only_metadata_servers_of_the_group_command(command: Message) -> None:
    lab = stored(8)
    send(lab, "eve", "dn1", *[command] * 5)
    lab.run_ms(300)
    assert lines(lab) == {
        "eve commands like a metadata server of group 1, and is none that is known here: it is not heeded"
    }
    unharmed(lab)
    assert removes(lab)


@pytest.mark.parametrize("epoch", [ABSURD, (1 << 64) - 1])
def test_the_epoch_of_a_server_that_is_not_configured_is_believed_while_it_speaks(epoch: int) -> None:
    """A server that was added later is obeyed; so is, for a while, an unknown peer that asks for reports as a server does."""
    lab = stored(10)
    for name in lab.data_nodes:
        send(lab, "eve", name, WantReport(1), HeartbeatAck(1, epoch, Void()))
    lab.run_ms(10_000)
    assert removes(lab)


def test_a_writer_does_not_report_where_servers_are() -> None:
    lab = stored(9)
    addresses = dict.fromkeys(["mds1", "mds2", "dn3"], "127.0.0.1:99999999999999999999")
    for name in lab.data_nodes:
        send(lab, "eve", name, WriteBlock(NOBODYS, 1, 0, ["mds1", "nobody"], addresses, 1))
    unharmed(lab)
