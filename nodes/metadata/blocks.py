"""The bodies of files: their blocks in order and their writers, with a digest that follows every change in constant time.

Bodies are a separate table beside the inodes, so that an empty file needs none. The locations of replicas are not part of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

import msgspec

from nodes.metadata.digest import BLOCK, BODY, MASK, term
from nodes.metadata.operations import Block
from nodes.units import GROUP_SHIFT, OpId

Undo = list[Any] | None


class Body(msgspec.Struct, gc=False):
    """The content of one file. The last block of an open file may be unfinished: its length is 0."""

    inode: int
    block_size: int
    blocks: list[Block]
    """Blocks in the order of the content, which is that of their numbers."""
    writer: OpId | None
    """The `Append` that holds the file; None when the file is complete."""

    @property
    def unfinished(self) -> Block | None:
        last = self.blocks[-1] if self.blocks else None
        return last if last is not None and not last.length else None

    @property
    def term(self) -> int:
        """Digest term of the body without its blocks."""
        writer = self.writer
        held = None if writer is None else (writer.client, writer.number)
        return term((BODY, self.inode, self.block_size, held))

    def block_term(self, block: Block) -> int:
        return term((BLOCK, self.inode, block.number, block.stamp, block.length))


class Bodies:
    """All bodies of one namespace by inode number, and by block."""

    def __init__(self, group: int):
        self.next_block = (group << GROUP_SHIFT) | 1
        """The next block number. The high 16 bits are the group's number; no number is used twice."""
        self.digest = 0
        self._bodies: dict[int, Body] = {}
        self._owners: dict[int, Body] = {}
        self._held: dict[int, None] = {}

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self._bodies.values())

    def get(self, inode: int) -> Body | None:
        return self._bodies.get(inode)

    def owner(self, block: int) -> Body | None:
        """The body of a block; None for a free block."""
        return self._owners.get(block)

    def block(self, number: int) -> Block | None:
        """The block with this number; None for a free one."""
        body = self._owners.get(number)
        if body is None:
            return None
        return body.blocks[bisect_left(body.blocks, number, key=lambda block: block.number)]

    def blocks(self) -> list[int]:
        """The numbers of all blocks."""
        return list(self._owners)

    def recompute_digest(self) -> int:
        """The digest, recomputed from every entry."""
        return sum(_terms(body) for body in self._bodies.values()) & MASK

    # --- changes ---------------------------------------------------------------------------------------------------

    def open(self, inode: int, block_size: int, writer: OpId, undo: Undo) -> None:
        """Opens the file for a writer; the previous writer's unfinished block gets a new stamp."""
        body = self._bodies.get(inode)
        if body is None:
            if undo is not None:
                undo.append((self._unmake, inode, self.digest))
            body = self._bodies[inode] = Body(inode, block_size, [], None)
            self.digest = (self.digest + body.term) & MASK
        self._change(body, [_restamped(block) for block in _unfinished(body)], writer, undo)

    def _unmake(self, inode: int, digest: int) -> None:
        del self._bodies[inode]
        self._held.pop(inode, None)
        self.digest = digest

    def grow(self, inode: int, length: int, number: int, undo: Undo) -> None:
        """Sets the unfinished block's length in bytes, or abandons the block with 0. Then begins a block with this number, or completes the file
        with 0."""
        body = self._bodies[inode]
        tail = [Block(block.number, block.stamp, length) for block in _unfinished(body) if length]
        if number:
            self._change(body, [*tail, Block(number, 1, 0)], body.writer, undo)
            self.next_block = number + 1
        else:
            self._change(body, tail, None, undo)

    def restamp(self, inode: int, undo: Undo) -> None:
        """The unfinished block gets a new stamp."""
        body = self._bodies[inode]
        self._change(body, [_restamped(block) for block in _unfinished(body)], body.writer, undo)

    def give_up(self, client: str, undo: Undo) -> None:
        """Ends the client's hold on all files that it was writing. The next writer settles the length of an unfinished block."""
        for inode in list(self._held):
            writer = self._bodies[inode].writer
            if writer is not None and writer.client == client:
                body = self._bodies[inode]
                self._change(body, _unfinished(body), None, undo)

    def drop(self, inodes: Iterable[int], undo: Undo) -> None:
        """Frees all blocks of those inodes that have a body."""
        gone = [self._bodies.pop(inode) for inode in inodes if inode in self._bodies]
        if not gone:
            return
        if undo is not None:
            undo.append((self._undrop, gone, self.digest))
        for body in gone:
            self._held.pop(body.inode, None)
            for block in body.blocks:
                del self._owners[block.number]
        self.digest = (self.digest - sum(map(_terms, gone))) & MASK

    def _undrop(self, gone: list[Body], digest: int) -> None:
        for body in gone:
            self._own(body)
        self.digest = digest

    def _change(self, body: Body, tail: list[Block], writer: OpId | None, undo: Undo) -> None:
        """Replaces the unfinished block, if there is one, by `tail`."""
        old = _unfinished(body)
        keep = len(body.blocks) - len(old)
        if undo is not None:
            undo.append((self._put_back, body, keep, old, body.writer, self.next_block, self.digest))
        change = sum(map(body.block_term, tail)) - sum(map(body.block_term, old)) - body.term
        self._replace(body, keep, tail)
        self._give(body, writer)
        self.digest = (self.digest + change + body.term) & MASK

    def _put_back(
        self, body: Body, keep: int, tail: list[Block], writer: OpId | None, next_block: int, digest: int
    ) -> None:
        self._replace(body, keep, tail)
        self._give(body, writer)
        self.next_block, self.digest = next_block, digest

    def _give(self, body: Body, writer: OpId | None) -> None:
        body.writer = writer
        if writer is None:
            self._held.pop(body.inode, None)
        else:
            self._held[body.inode] = None

    def _replace(self, body: Body, keep: int, tail: list[Block]) -> None:
        for block in body.blocks[keep:]:
            del self._owners[block.number]
        body.blocks[keep:] = tail
        for block in tail:
            self._owners[block.number] = body

    # --- images ----------------------------------------------------------------------------------------------------

    def restore(self, body: Body) -> None:
        self._own(body)
        self.digest = (self.digest + _terms(body)) & MASK

    def _own(self, body: Body) -> None:
        self._bodies[body.inode] = body
        self._give(body, body.writer)
        for block in body.blocks:
            self._owners[block.number] = body


def _terms(body: Body) -> int:
    return body.term + sum(map(body.block_term, body.blocks))


def _unfinished(body: Body) -> list[Block]:
    """The unfinished block in a list; an empty list when there is none."""
    block = body.unfinished
    return [] if block is None else [block]


def _restamped(block: Block) -> Block:
    return Block(block.number, block.stamp + 1, 0)
