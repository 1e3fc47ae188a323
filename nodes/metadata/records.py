"""Journal records. Each holds everything that applying it needs, times and inode numbers included.

Applying a record is a pure function of (namespace, record), the same on every replica.
"""

from __future__ import annotations

from typing import Any

import msgspec
from crc32c import crc32c

from nodes.metadata.changes import Change
from nodes.metadata.operations import Done, EndSession, Result, Write
from nodes.metadata.placement import Unit
from nodes.units import OpId


class ClientRecord(msgspec.Struct, array_like=True, tag=True, gc=False):
    op_id: OpId
    lowest_open: int
    """The application has received the answers to all of this client's calls below this number (their results may be forgotten)."""
    at_ns: int
    """Stamp of the active that planned the record: its wall clock, but later than that of every record before."""
    result: Result


class MakeRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """A chain of new inodes with numbers from `inode` on. The first is in `parent`, and each other one is a child of the one before."""

    parent: int
    names: list[str]
    inode: int
    directory: bool
    mode: int
    parent_unit: Unit | None = None
    unit: Unit | None = None
    """Placement values of the parent, and of a new directory."""


class MoveRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """Moves a name. The object under the new name is removed first, with its inode if that is here."""

    from_parent: int
    from_name: str
    to_parent: int
    to_name: str


class LinkRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """Adds a name to a file of this group."""

    parent: int
    name: str
    inode: int


class RemoveRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """Removes a name with everything below it, except files that have other names."""

    parent: int
    name: str


class AlterRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """Sets attributes; None keeps an attribute."""

    inode: int
    mode: int | None = None
    owner: str | None = None
    group: str | None = None
    mtime_ns: int | None = None
    atime_ns: int | None = None
    replication: int | None = None


class KeepRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """Changes nothing; the result is remembered."""


class RefuseRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """Changes nothing; the failure of the call is remembered as long as its number is open (safety rule 10)."""


class OpenSessionRecord(ClientRecord, array_like=True, tag=True, gc=False):
    since: int = 0


class CloseSessionRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """Closes a session: its results are forgotten but for this one. The closing is known until `EndSessionRecord`."""


class AppendRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """Makes the call itself the writer; an unfinished block gets a new stamp."""

    inode: int
    block_size: int


class GrowRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """Finishes the unfinished block with `length` bytes, or abandons it; begins `block`, or completes the file."""

    inode: int
    length: int
    block: int


class RestampRecord(ClientRecord, array_like=True, tag=True, gc=False):
    inode: int


# --- operations on several groups: the log records of DCFS2 §4.3.1 --------------------------------------------------


class BeginRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """The coordinator's record of its own part, which is also its promise. `result` is not valid yet."""

    seq: int
    """Numbers the distributed operations of this coordinator's group, from 1."""
    own: list[Change]
    peers: dict[int, list[Change]]
    """The parts of the other groups, by number."""
    coordinated: bool
    """The coordinator decides when all have promised; else the only participant does (S2PC-MP)."""


class DecideRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """The coordinator's decision: Commit or Abort."""

    seq: int
    commit: bool
    numbers: list[int]


class _InnerRecord(msgspec.Struct, array_like=True, tag=True, gc=False):
    at_ns: int


class EndRecord(_InnerRecord, array_like=True, tag=True, gc=False):
    """The coordinator's end of a coordinated operation: every participant knows the decision."""

    seq: int


class EndSessionRecord(_InnerRecord, array_like=True, tag=True, gc=False):
    """Ends the session of a client without a record for a session's time to live. The client is forgotten and holds no file (safety rule 10)."""

    client: str


class ReclaimRecord(_InnerRecord, array_like=True, tag=True, gc=False):
    """Removes an orphan that has become empty."""

    inode: int


class _PeerRecord(_InnerRecord, array_like=True, tag=True, gc=False):
    """A participant's record; (`group`, `seq`) names the operation."""

    group: int
    """The coordinator's group."""
    seq: int


class VoteRecord(_PeerRecord, array_like=True, tag=True, gc=False):
    """S2PC-MP: the participant decides, and carries its part out with the same record."""

    commit: bool
    changes: list[Change]
    numbers: list[int]
    error: str
    finished_below: int
    """No operation of this coordinator below this number is open."""


class PromiseRecord(_PeerRecord, array_like=True, tag=True, gc=False):
    """A coordinated operation: this part will be carried out if the coordinator decides so."""

    changes: list[Change]
    numbers: list[int]
    finished_below: int


class OutcomeRecord(_PeerRecord, array_like=True, tag=True, gc=False):
    """The coordinator's decision, carried out by a participant."""

    commit: bool
    numbers: list[int]


class FinishRecord(_PeerRecord, array_like=True, tag=True, gc=False):
    """S2PC-MP's End: the coordinator knows the decision."""


# --- checkpoints of the whole cluster (CFS §4.3) ----------------------------------------------------------------------


class BarrierRecord(_InnerRecord, array_like=True, tag=True, gc=False):
    """Changes nothing: a checkpoint holds the records before it. The only record of its journal group."""

    name: str
    stamp_ns: int
    """The present time on which all groups agreed."""


class IncarnationRecord(_InnerRecord, array_like=True, tag=True, gc=False):
    """The cluster was rolled back to a checkpoint. Numbers allocated since are never allocated again, and paths resolved since are invalid."""

    number: int
    checkpoint: str = ""
    barrier_sn: int = 0
    """In a journal that is never cut: the state before this record is that of the barrier, whatever lies between. 0: the journal ends with it."""
    barrier_crc: int = 0


class PassOverRecord(_InnerRecord, array_like=True, tag=True, gc=False):
    """The group was forced: it may have lost numbers that it had given out, and moves that it had counted. It gives none of them out again."""

    numbers: int
    """How many numbers of inodes, blocks and operations are passed over, each."""
    moves: int
    """The count of moves is at least this from here on."""


# --- symmetric members ---------------------------------------------------------------------------------------------------


class CallRecord(_InnerRecord, array_like=True, tag=True, gc=False):
    """A call at its place in the total order. Every member computes its result, and all compute the same (SAA Fig. 6)."""

    op_id: OpId
    lowest_open: int
    operation: Write | EndSession


class AtimeRecord(_InnerRecord, array_like=True, tag=True, gc=False):
    """A file was read at one member at that time. An inode that is gone, or was read later, is unchanged (SAA §6)."""

    inode: int


Record = (
    MakeRecord | MoveRecord | LinkRecord | RemoveRecord | AlterRecord | KeepRecord | RefuseRecord | OpenSessionRecord | CloseSessionRecord
    | EndSessionRecord
    | AppendRecord | GrowRecord | RestampRecord
    | BeginRecord | DecideRecord | EndRecord | VoteRecord | PromiseRecord | OutcomeRecord | FinishRecord | ReclaimRecord
    | BarrierRecord | IncarnationRecord | PassOverRecord | CallRecord | AtimeRecord
)  # fmt: skip

CROSS_GROUP = (BeginRecord, DecideRecord, VoteRecord, PromiseRecord, OutcomeRecord, FinishRecord)
"""Records of operations on several groups, of which one group must not forget what it has said to another."""


_encode = msgspec.msgpack.Encoder().encode
_DONE_SUM = crc32c(_encode(Done()))


def result_sum(result: Any) -> int:
    """Checksum of a call's result in events, the same before and after encoding, so that the client's answer can be compared with the record."""
    return _DONE_SUM if type(result) is Done else crc32c(_encode(result))


def result_sum_of(record: Record) -> int:
    """The checksum of a record's result; 0 for a record that has none."""
    result = getattr(record, "result", None)
    return 0 if result is None else result_sum(result)


def rollback_in(records: list[Record]) -> IncarnationRecord | None:
    """The record of a rollback in a journal that is never cut, which has a group of its own; None in every other group."""
    record = records[0] if len(records) == 1 else None
    return record if type(record) is IncarnationRecord and record.barrier_sn else None


def call_of(record: Record) -> tuple[str, int]:
    """The client's call that this record carries out; ("", 0) for other records."""
    if isinstance(record, BeginRecord | RefuseRecord) or (
        isinstance(record, DecideRecord) and not record.commit
    ):
        return "", 0
    op_id = getattr(record, "op_id", None)
    return (op_id.client, op_id.number) if op_id is not None else ("", 0)
