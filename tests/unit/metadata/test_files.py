"""The content of files against a simple model; replicas against each other, images and undo against the past."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.errors import FsError
from nodes.metadata import operations as ops
from nodes.metadata.images import dump, load
from nodes.metadata.namespace import Namespace
from nodes.metadata.records import Record
from nodes.units import OpId, home_group

SIZE = 1024
PATHS = st.sampled_from(["/a", "/b"])
LENGTHS = st.sampled_from([0, 1, 512, SIZE, SIZE + 1])
STEPS = st.one_of(
    st.tuples(st.just("create"), PATHS),
    st.tuples(st.just("delete"), PATHS),
    st.tuples(st.just("move"), PATHS, PATHS),
    st.tuples(st.just("append"), PATHS, st.booleans()),
    st.tuples(st.just("add"), st.integers(0, 3), LENGTHS, st.booleans()),
    st.tuples(st.just("complete"), st.integers(0, 3), LENGTHS, st.booleans()),
    st.tuples(st.just("restamp"), st.integers(0, 3)),
    st.tuples(st.just("end")),
)
CLIENTS = st.sampled_from(["ada", "eve"])
RECORDS = msgspec.msgpack.Decoder(list[Record])


class File:
    def __init__(self) -> None:
        self.blocks: list[list[int]] = []
        self.writer: tuple[str, int] | None = None

    @property
    def unfinished(self) -> list[int] | None:
        return self.blocks[-1] if self.blocks and not self.blocks[-1][2] else None


class Model:
    """Files as lists of [number, stamp, length], with the expected answers."""

    def __init__(self) -> None:
        self.files: dict[str, File] = {}
        self.sessions = {"ada", "eve"}
        self.next = (1 << 48) | 1

    def end(self, client: str) -> None:
        """The client no longer holds a file; an unfinished block waits for the next writer."""
        self.sessions.discard(client)
        for file in self.files.values():
            if file.writer and file.writer[0] == client:
                file.writer = None

    def append(self, path: str, force: bool, client: str, number: int) -> str:
        file = self.files.get(path)
        if file is None:
            return "ENOENT"
        if file.writer and file.writer[0] in self.sessions and not force:
            return "EBUSY"
        file.writer = (client, number)
        if file.unfinished:
            file.unfinished[1] += 1
        return ""

    def grow(self, file: File, held: tuple[str, int], length: int, stamp: int, more: bool) -> str:
        if file.writer != held or file not in self.files.values():
            return "ESTALE"
        last = file.unfinished
        if last is not None and last[1] < stamp:
            return "ESTALE"
        if length > SIZE or (length and (last is None or last[1] != stamp)):
            return "EINVAL"
        if last is not None:
            last[2] = length
            if not length:
                file.blocks.pop()
        if more:
            file.blocks.append([self.next, 1, 0])
            self.next += 1
        else:
            file.writer = None
        return ""

    def restamp(self, file: File, held: tuple[str, int]) -> str:
        if file.writer != held or file not in self.files.values():
            return "ESTALE"
        if file.unfinished is None:
            return "EINVAL"
        file.unfinished[1] += 1
        return ""


class Run:
    """The same steps on the model, on an active and on a standby."""

    def __init__(self) -> None:
        self.model, self.active, self.standby = Model(), Namespace(), Namespace()
        self.handles: list[tuple[File, int, tuple[str, int]]] = []
        self.number = 0
        self.undo: list[Any] = []
        for client in ("ada", "eve"):
            self.do(ops.OpenSession(), client)

    def do(self, operation: Any, client: str) -> tuple[str, Any]:
        self.number += 1
        try:
            record = self.active.plan(operation, OpId(client, self.number), self.number, self.number)
        except FsError as error:
            return error.name, None
        self.active.apply(record, self.undo)
        if not isinstance(operation, ops.CloseSession):
            assert self.active.sessions.recorded(OpId(client, self.number)) == record.result
        self.standby.apply(RECORDS.decode(msgspec.msgpack.encode([record]))[0])
        return "", record.result

    def step(self, step: tuple[Any, ...], client: str) -> None:
        files, kind = self.model.files, step[0]
        if kind == "create":
            if not self.do(ops.Create(step[1]), client)[0]:
                files[step[1]] = File()
        elif kind == "delete":
            if not self.do(ops.Delete(step[1]), client)[0]:
                del files[step[1]]
        elif kind == "move":
            if not self.do(ops.Rename(step[1], step[2], True), client)[0]:
                files[step[2]] = files.pop(step[1])
        elif kind == "append":
            self.append(step[1], step[2], client)
        elif kind == "end":
            self.do(ops.CloseSession(), "eve")
            self.model.end("eve")
        elif step[1] < len(self.handles):
            self.held(step)

    def append(self, path: str, force: bool, client: str) -> None:
        error, result = self.do(ops.Append(path, SIZE, force), client)
        if client not in self.model.sessions:
            assert error == "ESTALE"
            return
        assert error == self.model.append(path, force, client, self.number)
        if not error:
            file = self.model.files[path]
            left = None if file.unfinished is None else ops.Block(*file.unfinished)
            assert result.unfinished == left
            self.handles.insert(0, (file, result.inode, (client, self.number)))

    def held(self, step: tuple[Any, ...]) -> None:
        file, inode, held = self.handles[step[1]]
        if held[0] not in self.model.sessions:
            return
        known = 0 if file.unfinished is None else file.unfinished[0]
        if step[0] == "restamp":
            error, result = self.do(ops.Restamp(inode, held[1], known), held[0])
            assert error == self.model.restamp(file, held)
        else:
            last = file.unfinished
            stamp = 9 if step[3] or last is None else last[1]
            kind = ops.AddBlock if step[0] == "add" else ops.Complete
            error, result = self.do(kind(inode, held[1], known, step[2], stamp), held[0])
            assert error == self.model.grow(file, held, step[2], stamp, step[0] == "add")
        if not error and isinstance(result, ops.Granted):
            assert result.block == ops.Block(*file.blocks[-1])

    def check(self) -> None:
        active = self.active
        assert active.digest == self.standby.digest == active.recompute_digest()
        every = []
        for path, file in self.model.files.items():
            reported = active.read(ops.Open(path))
            assert isinstance(reported, ops.Contents)
            assert [[b.number, b.stamp, b.length] for b in reported.blocks] == [
                b for b in file.blocks if b[2]
            ]
            assert reported.length == sum(block[2] for block in file.blocks)
            assert reported.writing == (file.writer is not None)
            every += [block[0] for block in file.blocks]
        assert sorted(active.tree.bodies.blocks()) == sorted(every)
        assert active.tree.bodies.next_block == self.model.next


@settings(max_examples=250, deadline=None)
@given(st.lists(st.tuples(STEPS, CLIENTS), max_size=40))
def test_files_agree_with_the_model_and_survive_an_image(steps: list[Any]) -> None:
    run = Run()
    for step, client in steps:
        run.step(step, client)
        run.check()
    again = load(dump(run.active))
    assert again.digest == run.active.digest == again.recompute_digest()
    assert list(dump(again)) == list(dump(load(dump(again))))
    assert again.tree.bodies.next_block == run.model.next
    assert sorted(again.tree.bodies.blocks()) == sorted(run.active.tree.bodies.blocks())


def frozen(namespace: Namespace) -> Any:
    bodies = namespace.tree.bodies
    inodes = sorted((inode.number, inode.length, inode.mtime_ns) for inode in namespace.tree.inodes.values())
    plain = sorted(msgspec.msgpack.encode(body) for body in bodies)
    return inodes, plain, sorted(bodies.blocks()), bodies.next_block, namespace.digest


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(STEPS, CLIENTS), max_size=30), st.integers(0, 30))
def test_undo_restores_bodies(steps: list[Any], kept: int) -> None:
    run = Run()
    for step, client in steps[:kept]:
        run.step(step, client)
    before = frozen(run.active)
    run.undo.clear()
    for step, client in steps[kept:]:
        run.step(step, client)
    while run.undo:
        run.active.undo(run.undo.pop())
    assert frozen(run.active) == before
    assert run.active.digest == run.active.recompute_digest()


def test_the_digest_sees_every_field() -> None:
    run = Run()
    run.step(("create", "/a"), "ada")
    run.step(("append", "/a", False), "ada")
    run.step(("add", 0, 0, False), "ada")
    body = next(iter(run.active.tree.bodies))
    digest = run.active.recompute_digest()
    for name, value in (("writer", None), ("block_size", 512), ("blocks", [ops.Block(1, 1, 0)])):
        old = getattr(body, name)
        setattr(body, name, value)
        assert run.active.recompute_digest() != digest, name
        setattr(body, name, old)
    assert home_group(body.blocks[0].number) == 1


@pytest.mark.parametrize("size", [0, 1, 511, 513, (128 << 20) + 512, -512])
def test_block_sizes_have_limits(size: int) -> None:
    run = Run()
    run.step(("create", "/a"), "ada")
    assert run.do(ops.Append("/a", size), "ada")[0] == "EINVAL"
    assert run.do(ops.Append("/"), "ada")[0] == "EISDIR"
    assert run.do(ops.AddBlock(1 << 60, -1), "ada")[0] == "ESTALE"


def test_who_knows_another_last_block_than_the_namespace_has_is_refused() -> None:
    """As after a recovery to a checkpoint that was marked while the file was written: blocks in between would be lost unnoticed."""
    run = Run()
    run.step(("create", "/a"), "ada")
    run.step(("append", "/a", False), "ada")
    run.step(("add", 0, 0, False), "ada")
    _, inode, (_, append) = run.handles[0]
    known = run.active.tree.bodies.blocks()[0]
    before = run.active.digest
    for block in (0, known + 1):
        for operation in (
            ops.AddBlock(inode, append, block, SIZE, 1),
            ops.AddBlock(inode, append, block),
            ops.Complete(inode, append, block, SIZE, 1),
            ops.Restamp(inode, append, block),
        ):
            assert run.do(operation, "ada")[0] == "ESTALE"
    assert run.active.digest == before
    assert run.do(ops.AddBlock(inode, append, known, SIZE, 1), "ada")[0] == ""


def test_pages_of_blocks() -> None:
    run = Run()
    run.step(("create", "/a"), "ada")
    run.step(("append", "/a", False), "ada")
    for length in (0, SIZE, SIZE, 7):
        run.step(("add", 0, length, False), "ada")
    pages = [run.active.read(ops.Open("/a", first, 2)) for first in (0, 2, 4)]
    assert [[b.length for b in page.blocks] for page in pages] == [[SIZE, SIZE], [7], []]  # type: ignore[union-attr]
    assert [page.more for page in pages] == [True, False, False]  # type: ignore[union-attr]
    for first, limit in ((-1, 1), (0, 0), (0, 10_001)):
        with pytest.raises(FsError, match="EINVAL"):
            run.active.read(ops.Open("/a", first, limit))
