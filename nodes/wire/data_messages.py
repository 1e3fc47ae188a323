"""Messages to and from data nodes: reports and commands, block pipelines, reads, and locations of replicas."""

from __future__ import annotations

from typing import Literal

import msgspec

from nodes.wire.messages import Message, Question, Reply, about

Removal = Literal["freed", "excess", "stale", "damaged", "replaced", "set aside"]
"""Reasons for a removal: the first four are the active's; `replaced` is by a later writing, `set aside` by a recovery to a checkpoint."""
WRITING, FINAL, DAMAGED = 0, 1, 2
"""States of a replica: its content may be part of a block, is the whole block, or must not be trusted."""


class ReplicaRow(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """A replica as its data node reports it."""

    block: int
    stamp: int
    length: int
    state: int


class Void(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """Blocks of one group that were numbered behind a barrier to which the cluster has since rolled back (CFS §4.3)."""

    incarnation: int = 0
    """Incarnation of the last recovery; 0 when there was none."""
    ranges: list[tuple[int, int]] = []
    """Ranges of block numbers, each with its first number and the first number after it."""

    def __contains__(self, block: int) -> bool:
        return any(first <= block < end for first, end in self.ranges)


# --- between data nodes and metadata servers --------------------------------------------------------------------


class Heartbeat(Message, array_like=True, tag=True, gc=False):
    """A data node's heartbeat. `version` counts the changes of its replicas of this group since it started."""

    boot: int
    """A number drawn at the data node's start. Another number means that it must report everything again."""
    version: int
    address: str
    capacity: int
    used: int
    epoch: int
    """The highest epoch of the group from which the data node received a command or heartbeat acknowledgement."""


class FullReport(Message, array_like=True, tag=True, gc=False):
    """Part number `part`, from 0, of all replicas of this group as they were at `version`."""

    boot: int
    version: int
    part: int
    parts: int
    rows: list[ReplicaRow]


class Changes(Message, array_like=True, tag=True, gc=False):
    """An incremental report: the changes between two versions."""

    boot: int
    before: int
    version: int
    rows: list[ReplicaRow]
    removed: list[int]


class WantReport(Message, array_like=True, tag=True, gc=False):
    """A metadata server of this group lacks reports, or has just started."""

    group: int


class HeartbeatAck(Message, array_like=True, tag=True, gc=False):
    """Heartbeat acknowledgement: the active of a group sends its epoch, and the blocks to be quarantined."""

    group: int
    epoch: int
    void: Void
    address: str = ""
    """Address of the active, for the copy of the view that data nodes keep for clients."""


class Replicate(Message, array_like=True, tag=True, gc=False):
    """Command of the active to copy a whole replica to another data node."""

    epoch: int
    block: int
    stamp: int
    target: str
    address: str


class Remove(Message, array_like=True, tag=True, gc=False):
    """Command of the active to remove replicas, named by (block, stamp, state). A replica that has changed since stays, unless the whole block
    is freed."""

    epoch: int
    blocks: list[tuple[int, int, int]]
    removal: Removal
    boot: int = 0
    """The life of the data node that reported them."""
    version: int = 0
    """Version of the replicas as the active knows them: one that has changed later stays."""


# --- where blocks lie -----------------------------------------------------------------------------------------------


class Location(msgspec.Struct, array_like=True, gc=False, frozen=True):
    node: str
    stamp: int
    length: int
    state: int


class Locate(Question, array_like=True, tag=True, gc=False):
    """Asks any metadata server of the group for the locations of these blocks, at most `LOCATED_MAX`."""

    blocks: list[int]


class Located(Reply, array_like=True, tag=True, gc=False):
    """The replicas of each block on live data nodes, in the order of the question."""

    places: list[list[Location]]
    addresses: dict[str, str]


class Choose(Question, array_like=True, tag=True, gc=False):
    """Asks any metadata server of the group for data nodes to write a block to."""

    count: int
    exclude: list[str]
    size: int


class Chosen(Reply, array_like=True, tag=True, gc=False):
    nodes: list[str]
    addresses: dict[str, str]


# --- pipelines ------------------------------------------------------------------------------------------------------


class WriteBlock(Message, array_like=True, tag=True, gc=False):
    """Opens a replica to be written behind its first `at` bytes, here and on every node of `chain`."""

    block: int
    stamp: int
    at: int
    chain: list[str]
    addresses: dict[str, str]
    epoch: int
    is_copy: bool = False
    """A whole replica is copied: it counts on the receiver only when it is whole there, too."""


class WriteOpened(Message, array_like=True, tag=True, gc=False):
    """This node and all nodes behind it are ready; or one of them refuses, with a reason."""

    block: int
    stamp: int
    node: str
    refused: str


class Packet(Message, array_like=True, tag=True, gc=False):
    """Bytes of a block with their checksums. Except at the end, their number is a multiple of 512."""

    block: int
    stamp: int
    offset: int
    data: bytes
    sums: bytes
    last: bool
    """These bytes complete the replica."""


class PacketAcked(Message, array_like=True, tag=True, gc=False):
    """This node and all nodes behind it have so many bytes. With `final`, the replica is complete and durable."""

    block: int
    stamp: int
    length: int
    final: bool
    node: str
    refused: str


class AskReplica(Question, array_like=True, tag=True, gc=False):
    block: int


class ReplicaIs(Reply, array_like=True, tag=True, gc=False):
    """State of a replica; stamp 0 when there is none."""

    stamp: int
    length: int
    state: int


# --- reading --------------------------------------------------------------------------------------------------------


class ReadBlock(Question, array_like=True, tag=True, gc=False):
    block: int
    stamp: int
    offset: int
    length: int


class BlockRead(Reply, array_like=True, tag=True, gc=False):
    """Whole chunks from `offset` on with their checksums, or the reason why there are none."""

    offset: int
    data: bytes
    sums: bytes
    refused: str


LOCATED_MAX = 256
CHAIN_MAX = 16
"""Largest number of data nodes in one pipeline, and in one answer to `Choose`."""
PACKET_BYTES = 1 << 16
DATA_FROM_CLIENTS = (Locate, Choose, WriteBlock, Packet, AskReplica, ReadBlock)
DATA_MESSAGES = about(
    "data", Heartbeat, FullReport, Changes, WantReport, Replicate, Remove, Locate, Located, Choose, Chosen,
    WriteBlock, Packet, AskReplica, ReplicaIs, ReadBlock, BlockRead, replies=(HeartbeatAck, WriteOpened, PacketAcked),
)  # fmt: skip
