"""The namespace against a simple model, replicas against each other, and undo against the past."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.errors import FsError
from nodes.metadata import operations as ops
from nodes.metadata.images import dump, load
from nodes.metadata.namespace import Namespace
from nodes.metadata.records import Record
from nodes.units import OpId
from tests.unit.metadata.model import Model, ModelError

NAMES = st.sampled_from(["a", "b", "é", "c.d"])
PATHS = st.lists(NAMES, max_size=3).map(lambda names: "/" + "/".join(names))
MODES = st.integers(0, 0o7777)
WRITES = st.one_of(
    st.builds(ops.Create, PATHS, MODES),
    st.builds(ops.Mkdir, PATHS, st.booleans(), MODES),
    st.builds(ops.Mkdir, PATHS, st.booleans()),
    st.builds(ops.Rename, PATHS, PATHS, st.booleans()),
    st.builds(ops.Link, PATHS, PATHS),
    st.builds(ops.Delete, PATHS, st.booleans()),
    st.builds(ops.SetPermission, PATHS, MODES),
    st.builds(ops.SetOwner, PATHS, st.sampled_from(["", "ada"]), st.sampled_from(["", "staff"])),
    st.builds(ops.SetTimes, PATHS, st.integers(0, 9), st.integers(0, 9)),
    st.builds(ops.SetReplication, PATHS, st.integers(1, 512)),
)
READS = st.one_of(
    st.builds(ops.Stat, PATHS),
    st.builds(ops.List, PATHS, st.sampled_from(["", "a", "b"]), st.integers(1, 3)),
    st.builds(ops.ContentSummary, PATHS),
)
RECORDS = msgspec.msgpack.Decoder(list[Record])


def opened() -> Namespace:
    namespace = Namespace()
    namespace.apply(namespace.plan(ops.OpenSession(), OpId("ada", 1), 1, 5))
    return namespace


def reported(operation: Any, result: Any) -> Any:
    """The part of a result that the model has, too."""
    if isinstance(result, ops.Attributes):
        return result.kind, result.mode, result.owner, result.entries, result.nlink
    if isinstance(result, ops.Listing):
        return result.names, result.more
    if isinstance(result, ops.Summary):
        return result.directories, result.files
    return None


def outcome(run: Any) -> tuple[str, Any]:
    try:
        return "ok", run()
    except (FsError, ModelError) as error:
        return "error", error.name if isinstance(error, FsError) else str(error)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(WRITES, READS), max_size=40))
def test_results_errors_and_replicas_agree_with_the_model(operations: list[Any]) -> None:
    model, active, standby = Model(), opened(), opened()
    for number, operation in enumerate(operations, 2):

        def run(operation: Any = operation, number: int = number) -> Any:
            if type(operation) not in ops.WRITES:
                return reported(operation, active.read(operation))
            record = active.plan(operation, OpId("ada", number), number, 10 * number)
            active.apply(record)
            standby.apply(RECORDS.decode(msgspec.msgpack.encode([record]))[0])
            return None

        expected = outcome(lambda operation=operation: model.run(operation))
        assert outcome(run) == expected, operation
        assert active.digest == standby.digest == active.recompute_digest()
    again = load(dump(active))
    assert again.digest == active.digest == again.recompute_digest()
    assert list(dump(load(dump(active)))) == list(dump(again))


def frozen(namespace: Namespace) -> Any:
    tree = namespace.tree
    sessions = sorted((client, s.lowest_open, sorted(s.results)) for client, s in namespace.sessions)
    inodes = [msgspec.structs.astuple(tree.inodes[number]) for number in sorted(tree.inodes)]
    plain = [(*inode[:-1], None if inode[-1] is None else sorted(inode[-1].items())) for inode in inodes]
    return plain, tree.next_number, sessions, namespace.digest, namespace.recompute_digest()


@settings(max_examples=200, deadline=None)
@given(st.lists(WRITES, max_size=25), st.integers(0, 25), st.booleans())
def test_undo_restores_everything(operations: list[Any], kept: int, short_memory: bool) -> None:
    namespace = Namespace(short_memory=short_memory)
    namespace.apply(namespace.plan(ops.OpenSession(), OpId("ada", 1), 1, 5))
    undo: list[Any] = []
    before = frozen(namespace)
    everything = [*operations, ops.CloseSession(), ops.OpenSession()]
    for number, operation in enumerate(everything, 2):
        if number == kept:
            undo.clear()
            before = frozen(namespace)
        try:
            record = namespace.plan(operation, OpId("ada", number), max(2, number - 3), 10 * number)
        except FsError:
            continue
        namespace.apply(record, undo)
    while undo:
        namespace.undo(undo.pop())
    assert frozen(namespace) == before


def test_a_changed_attribute_changes_the_digest() -> None:
    """The digest detects differences: any difference between two replicas changes it."""
    namespace = opened()
    namespace.apply(namespace.plan(ops.Create("/f"), OpId("ada", 2), 2, 7))
    inode = namespace.tree.inodes[namespace.tree.next_number - 1]
    digest = namespace.recompute_digest()
    for name, value in (
        ("mode", 1),
        ("mtime_ns", 8),
        ("atime_ns", 8),
        ("owner", "x"),
        ("replication", 2),
        ("nlink", 2),
    ):
        old = getattr(inode, name)
        setattr(inode, name, value)
        assert namespace.recompute_digest() != digest, name
        setattr(inode, name, old)
    assert namespace.recompute_digest() == digest
