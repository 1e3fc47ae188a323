"""Operations on the content of files: planned, applied, read.

A writer holds a file by the number of its `Append`. Its later requests are refused once another writer holds the file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from nodes.errors import FsError
from nodes.metadata.blocks import Bodies, Body, Undo
from nodes.metadata.effects import Busy
from nodes.metadata.inode import Inode
from nodes.metadata.lookup import Start, find
from nodes.metadata.operations import (
    BLOCK_SIZE_MAX,
    BLOCKS_REPORTED_MAX,
    CHUNK_BYTES,
    AddBlock,
    Append,
    Block,
    Complete,
    Contents,
    Done,
    Granted,
    Open,
    Opened,
    Restamp,
)
from nodes.metadata.paths import shown
from nodes.metadata.plans import Call, ResolutionContext
from nodes.metadata.records import AppendRecord, GrowRecord, Record, RestampRecord
from nodes.metadata.sessions import ClientSessions
from nodes.metadata.tree import Tree
from nodes.units import OpId

BLOCKS_MAX = 1 << 20
"""Largest number of blocks of one file: 64 GiB in blocks of the default size."""


class FileTables(NamedTuple):
    """The state that the planners of this module read."""

    tree: Tree
    sessions: ClientSessions


def file_at(tree: Tree, path: str, start: Start) -> Inode:
    """The file at a path. Raises FsError: those of `find`, and EISDIR."""
    inode = find(tree, path, start)
    if inode.entries is not None:
        raise FsError("EISDIR", shown(path))
    return inode


# --- planning ------------------------------------------------------------------------------------------------------


def plan_append(files: FileTables, operation: Append, call: Call, way: ResolutionContext) -> Record:
    check_block_size(operation.block_size)
    inode = file_at(files.tree, operation.path, way.start(0))
    body = files.tree.bodies.get(inode.number)
    writer = "" if body is None or body.writer is None else body.writer.client
    if files.sessions.known(writer) and not operation.force:
        raise FsError("EBUSY", f"{shown(operation.path)} is being written by {writer}")
    unfinished = None if body is None else body.unfinished
    if unfinished is not None:
        unfinished = Block(unfinished.number, unfinished.stamp + 1, 0)
    size = operation.block_size if body is None else body.block_size
    result = Opened(inode.number, size, inode.length, inode.replication, unfinished)
    return AppendRecord(*call, result, inode.number, size)


def check_block_size(size: int) -> None:
    if not CHUNK_BYTES <= size <= BLOCK_SIZE_MAX or size % CHUNK_BYTES:
        raise FsError("EINVAL", f"a block size is a multiple of {CHUNK_BYTES}, at most {BLOCK_SIZE_MAX}")


def plan_add_block(files: FileTables, operation: AddBlock, call: Call, way: ResolutionContext) -> Record:
    body = _held(files, operation, call)
    _check_finished(body, operation.length, operation.stamp)
    if len(body.blocks) >= BLOCKS_MAX:
        raise FsError("EFBIG", f"a file has at most {BLOCKS_MAX} blocks")
    number = files.tree.bodies.next_block
    granted = Granted(Block(number, 1, 0))
    return GrowRecord(*call, granted, operation.inode, operation.length, number)


def plan_complete(files: FileTables, operation: Complete, call: Call, way: ResolutionContext) -> Record:
    body = _held(files, operation, call)
    _check_finished(body, operation.length, operation.stamp)
    return GrowRecord(*call, Done(), operation.inode, operation.length, 0)


def plan_restamp(files: FileTables, operation: Restamp, call: Call, way: ResolutionContext) -> Record:
    block = _held(files, operation, call).unfinished
    if block is None:
        raise FsError("EINVAL", "the file has no unfinished block")
    granted = Granted(Block(block.number, block.stamp + 1, 0))
    return RestampRecord(*call, granted, operation.inode)


def _held(files: FileTables, operation: AddBlock | Complete | Restamp, call: Call) -> Body:
    """The body, if this very writer still holds it and knows its unfinished block. Raises FsError ESTALE, Busy."""
    if operation.inode in files.tree.locks.exclusive:
        # Its removal is promised, and may be decided already.
        raise Busy(f"inode {operation.inode}")
    body = files.tree.bodies.get(operation.inode)
    holder = f"call {operation.append} of {call.op_id.client}"
    if body is None or body.writer != OpId(call.op_id.client, operation.append):
        raise FsError("ESTALE", f"the file is gone or not held by {holder}")
    unfinished = body.unfinished
    if operation.block != (unfinished.number if unfinished is not None else 0):
        raise FsError("ESTALE", f"the file was taken back while {holder} wrote it: its last block is another")
    return body


def _check_finished(body: Body, length: int, stamp: int) -> None:
    block = body.unfinished
    if block is not None and block.stamp < stamp:
        raise FsError(
            "ESTALE", f"the file was taken back: its last block has stamp {block.stamp} and not {stamp}"
        )
    if not 0 <= length <= body.block_size or (length and (block is None or block.stamp != stamp)):
        raise FsError("EINVAL", f"no unfinished block of stamp {stamp} can have {length} bytes")


FILE_PLANNERS: dict[type, Callable[[FileTables, Any, Call, ResolutionContext], Record]] = {
    Append: plan_append,
    AddBlock: plan_add_block,
    Complete: plan_complete,
    Restamp: plan_restamp,
}


# --- applying ------------------------------------------------------------------------------------------------------


def file_appliers(tree: Tree) -> dict[type, Callable[[Any, Undo], None]]:
    """Appliers of the records of this module's planners, by record type."""
    bodies: Bodies = tree.bodies

    def grow(record: GrowRecord, undo: Undo) -> None:
        if record.length:
            inode = tree.inodes[record.inode]
            longer = {"length": inode.length + record.length, "mtime_ns": record.at_ns}
            tree.alter(inode, longer, undo)
        bodies.grow(record.inode, record.length, record.block, undo)

    return {
        AppendRecord: lambda record, undo: bodies.open(
            record.inode, record.block_size, record.op_id, undo
        ),
        GrowRecord: grow,
        RestampRecord: lambda record, undo: bodies.restamp(record.inode, undo),
    }  # fmt: skip


# --- reading -------------------------------------------------------------------------------------------------------


def contents(tree: Tree, operation: Open, start: Start) -> Contents:
    """A page of a file's finished blocks. Raises FsError."""
    if operation.first < 0 or not 1 <= operation.limit <= BLOCKS_REPORTED_MAX:
        raise FsError(
            "EINVAL", f"a page of blocks begins at 0 or later and has at most {BLOCKS_REPORTED_MAX}"
        )
    inode = file_at(tree, operation.path, start)
    body = tree.bodies.get(inode.number)
    if body is None:
        return Contents(inode.number, inode.length, inode.replication, 0, [], False, False)
    end = operation.first + operation.limit
    page = [block for block in body.blocks[operation.first : end] if block.length]
    writing = body.writer is not None
    return Contents(
        inode.number, inode.length, inode.replication, body.block_size, page, end < len(body.blocks), writing
    )  # fmt: skip
