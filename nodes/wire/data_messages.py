"""Messages to and from data nodes: reports and commands, the pipelines of blocks, reading, and where replicas lie."""

from __future__ import annotations

import msgspec

from nodes.wire.calls import Question, Reply
from nodes.wire.messages import Message

WRITING, FINAL, DAMAGED = 0, 1, 2
"""States of a replica: what it holds may be part of a block, is the whole of it, must not be believed."""


class Row(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """A replica as its data node reports it."""

    block: int
    stamp: int
    length: int
    state: int


class Void(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """Blocks of one group that were numbered behind a barrier to which the cluster has gone back since (CFS §4.3)."""

    incarnation: int = 0
    """That of the last recovery; 0 when there was none."""
    ranges: list[tuple[int, int]] = []
    """The first number, and the first that is none of them any more."""

    def __contains__(self, block: int) -> bool:
        return any(first <= block < end for first, end in self.ranges)


# --- between data nodes and metadata servers --------------------------------------------------------------------


class NodeBeat(Message, array_like=True, tag=True, gc=False):
    """A data node lives. `version` counts the changes of its replicas of this group since it started."""

    boot: int
    """Drawn at its start: another one means that everything is to be told anew."""
    version: int
    address: str
    capacity: int
    used: int
    epoch: int
    """The highest epoch of the group from which it took commands or heard."""


class FullReport(Message, array_like=True, tag=True, gc=False):
    """Part number `part`, from 0, of all replicas of this group as they were at `version`."""

    boot: int
    version: int
    part: int
    parts: int
    rows: list[Row]


class Changes(Message, array_like=True, tag=True, gc=False):
    """An incremental report: what changed between two versions."""

    boot: int
    before: int
    version: int
    rows: list[Row]
    removed: list[int]


class WantReport(Message, array_like=True, tag=True, gc=False):
    """A metadata server of this group misses reports, or has just started."""

    group: int


class BeatHeard(Message, array_like=True, tag=True, gc=False):
    """The active of a group tells its epoch, and which blocks are to be set aside."""

    group: int
    epoch: int
    void: Void
    address: str = ""
    """Of the active: the copy of the view that data nodes keep for clients."""


class Replicate(Message, array_like=True, tag=True, gc=False):
    """The active has a whole replica copied to another data node."""

    epoch: int
    block: int
    stamp: int
    target: str
    address: str


class Remove(Message, array_like=True, tag=True, gc=False):
    """The active has replicas removed that it knows by (block, stamp, state); one that has changed since stays, unless
    the whole block is freed."""

    epoch: int
    blocks: list[tuple[int, int, int]]
    reason: str
    """freed, excess, stale or damaged."""


# --- where blocks lie -----------------------------------------------------------------------------------------------


class Location(msgspec.Struct, array_like=True, gc=False, frozen=True):
    node: str
    stamp: int
    length: int
    state: int


class Locate(Question, array_like=True, tag=True, gc=False):
    """Asks any metadata server of the group who has these blocks, `LOCATED_MAX` of them at most."""

    blocks: list[int]


class Located(Reply, array_like=True, tag=True, gc=False):
    """The replicas of each block on data nodes that live, in the order of the question."""

    places: list[list[Location]]
    addresses: dict[str, str]


class Choose(Question, array_like=True, tag=True, gc=False):
    """Asks any metadata server of the group for data nodes to write a block to."""

    count: int
    exclude: list[str]
    octets: int


class Chosen(Reply, array_like=True, tag=True, gc=False):
    nodes: list[str]
    addresses: dict[str, str]


# --- pipelines ------------------------------------------------------------------------------------------------------


class WriteBlock(Message, array_like=True, tag=True, gc=False):
    """Opens a replica to be written behind its first `at` octets, here and on every node of `chain`."""

    block: int
    stamp: int
    at: int
    chain: list[str]
    addresses: dict[str, str]
    epoch: int


class WriteOpened(Message, array_like=True, tag=True, gc=False):
    """This node and all behind it are ready; or one of them refuses, and says why."""

    block: int
    stamp: int
    node: str
    refused: str


class Packet(Message, array_like=True, tag=True, gc=False):
    """Octets of a block with their checksums; but for the last ones a multiple of 512."""

    block: int
    stamp: int
    offset: int
    octets: bytes
    sums: bytes
    last: bool
    """The replica is whole with these."""


class PacketAcked(Message, array_like=True, tag=True, gc=False):
    """This node and all behind it have so many octets; with `final` durably and as a whole replica."""

    block: int
    stamp: int
    length: int
    final: bool
    node: str
    refused: str


class AskReplica(Question, array_like=True, tag=True, gc=False):
    block: int


class ReplicaIs(Reply, array_like=True, tag=True, gc=False):
    """Stamp 0 when there is none."""

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
    """Whole chunks from `offset` on with their checksums, or why not."""

    offset: int
    octets: bytes
    sums: bytes
    refused: str


LOCATED_MAX = 256
CHAIN_MAX = 16
"""Data nodes in one pipeline, and in one answer to `Choose`."""
PACKET_OCTETS = 1 << 16
DATA_MESSAGES: tuple[type[Message], ...] = (
    NodeBeat, FullReport, Changes, WantReport, BeatHeard, Replicate, Remove, Locate, Located, Choose, Chosen,
    WriteBlock, WriteOpened, Packet, PacketAcked, AskReplica, ReplicaIs, ReadBlock, BlockRead,
)  # fmt: skip
