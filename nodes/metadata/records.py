"""What the journal says: each record holds everything that applying it needs, times and inode numbers included.

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
    """Every call of this client below this has been answered to the application (its results may be forgotten)."""
    at_ns: int
    """Clock of the active that planned it: its wall clock, but later than that of every record before."""
    result: Result


class MakeRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """A chain of new inodes with numbers from `inode` on, each the child of the one before, the first in `parent`."""

    parent: int
    names: list[str]
    inode: int
    directory: bool
    mode: int
    parent_unit: Unit | None = None
    unit: Unit | None = None
    """What the placement keeps with the parent, and with a new directory."""


class MoveRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """Whatever has the new name is removed first, its inode too if that is here."""

    from_parent: int
    from_name: str
    to_parent: int
    to_name: str


class LinkRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """A file that is here has a name more."""

    parent: int
    name: str
    inode: int


class RemoveRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """With everything below it, but for files that have other names."""

    parent: int
    name: str


class AlterRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """None leaves an attribute as it is."""

    inode: int
    mode: int | None = None
    owner: str | None = None
    group: str | None = None
    mtime_ns: int | None = None
    atime_ns: int | None = None
    replication: int | None = None


class KeepRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """Nothing changes; the result is remembered."""


class RefuseRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """Nothing changes; that the call failed is remembered for as long as its number is open (safety rule 10)."""


class OpenSessionRecord(ClientRecord, array_like=True, tag=True, gc=False):
    since: int = 0


class CloseSessionRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """Its results are forgotten but for this one; that it was closed is known until `EndSessionRecord`."""


class AppendRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """The call itself becomes the writer; an unfinished block gets a new stamp."""

    inode: int
    block_size: int


class GrowRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """Finishes the unfinished block with `length` octets, or gives it up; begins `block`, or completes the file."""

    inode: int
    length: int
    block: int


class RestampRecord(ClientRecord, array_like=True, tag=True, gc=False):
    inode: int


# --- operations on several groups: the log records of DCFS2 §4.3.1 --------------------------------------------------


class BeginRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """At the coordinator: the result of its own part, which also is its promise. `result` means nothing yet."""

    seq: int
    """Numbers the distributed operations of this coordinator's group, from 1."""
    own: list[Change]
    peers: dict[int, list[Change]]
    """The parts of the other groups, by number."""
    coordinated: bool
    """The coordinator decides when all have promised; else the only participant does (S2PC-MP)."""


class DecideRecord(ClientRecord, array_like=True, tag=True, gc=False):
    """At the coordinator: Commit or Abort."""

    seq: int
    commit: bool
    numbers: list[int]
    """Of the inodes that were made."""


class _InnerRecord(msgspec.Struct, array_like=True, tag=True, gc=False):
    at_ns: int


class EndRecord(_InnerRecord, array_like=True, tag=True, gc=False):
    """At the coordinator of a coordinated operation: every participant knows the decision."""

    seq: int


class EndSessionRecord(_InnerRecord, array_like=True, tag=True, gc=False):
    """Nothing was recorded of a client for a session's time to live: it is forgotten, and holds no file any more (safety rule 10)."""

    client: str


class ReclaimRecord(_InnerRecord, array_like=True, tag=True, gc=False):
    """An orphan that is empty now goes."""

    inode: int


class _PeerRecord(_InnerRecord, array_like=True, tag=True, gc=False):
    """At a participant; (`group`, `seq`) names the operation."""

    group: int
    """The coordinator's."""
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
    """A coordinated operation: this part will be carried out if the coordinator says so."""

    changes: list[Change]
    numbers: list[int]
    finished_below: int


class OutcomeRecord(_PeerRecord, array_like=True, tag=True, gc=False):
    """What the coordinator decided, carried out here."""

    commit: bool
    numbers: list[int]


class FinishRecord(_PeerRecord, array_like=True, tag=True, gc=False):
    """S2PC-MP's End: the coordinator knows the decision."""


# --- checkpoints of the whole cluster (CFS §4.3) ----------------------------------------------------------------------


class BarrierRecord(_InnerRecord, array_like=True, tag=True, gc=False):
    """Nothing changes: a checkpoint holds what comes before it. The only record of its journal group."""

    name: str
    stamp_ns: int
    """What all groups agreed to call the present time."""


class IncarnationRecord(_InnerRecord, array_like=True, tag=True, gc=False):
    """The cluster was taken back to a checkpoint: no number that was given away since is given again, no path resolved since is believed."""

    number: int


# --- symmetric members ---------------------------------------------------------------------------------------------------


class CallRecord(_InnerRecord, array_like=True, tag=True, gc=False):
    """A call at its place in the total order: what comes of it every member finds by itself, and all find the same (SAA Fig. 6)."""

    op_id: OpId
    lowest_open: int
    operation: Write | EndSession


class AtimeRecord(_InnerRecord, array_like=True, tag=True, gc=False):
    """A file was read at one member at that time; an inode that is gone, or was read later, stays as it is (SAA §6)."""

    inode: int


Record = (
    MakeRecord | MoveRecord | LinkRecord | RemoveRecord | AlterRecord | KeepRecord | RefuseRecord | OpenSessionRecord | CloseSessionRecord
    | EndSessionRecord
    | AppendRecord | GrowRecord | RestampRecord
    | BeginRecord | DecideRecord | EndRecord | VoteRecord | PromiseRecord | OutcomeRecord | FinishRecord | ReclaimRecord
    | BarrierRecord | IncarnationRecord | CallRecord | AtimeRecord
)  # fmt: skip


_encode = msgspec.msgpack.Encoder().encode
_DONE_SUM = crc32c(_encode(Done()))


def result_sum(result: Any) -> int:
    """What events say of a call's result, as it travels or not, so that what the client was told can be compared with the record."""
    return _DONE_SUM if type(result) is Done else crc32c(_encode(result))


def result_sum_of(record: Record) -> int:
    """0 for a record that has none."""
    result = getattr(record, "result", None)
    return 0 if result is None else result_sum(result)


def call_of(record: Record) -> tuple[str, int]:
    """The client's call that this record carries out; ("", 0) when it is none."""
    if isinstance(record, BeginRecord | RefuseRecord) or (
        isinstance(record, DecideRecord) and not record.commit
    ):
        return "", 0
    op_id = getattr(record, "op_id", None)
    return (op_id.client, op_id.number) if op_id is not None else ("", 0)
