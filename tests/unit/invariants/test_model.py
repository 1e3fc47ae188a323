"""The invariants' model of the file system against the servers' namespace, at every moment of the past."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.errors import FsError
from nodes.invariants.answers import difference
from nodes.invariants.model import Model
from nodes.metadata import operations as ops
from nodes.metadata.namespace import Namespace
from nodes.units import OpId

PATHS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=3).map(lambda names: "/" + "/".join(names))
MODES = st.integers(0, 0o777)
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
    st.builds(ops.SetReplication, PATHS, st.integers(1, 9)),
)
READS = st.one_of(
    st.builds(ops.Stat, PATHS),
    st.builds(ops.List, PATHS, st.sampled_from(["", "a", "b"]), st.integers(1, 3)),
    st.builds(ops.ContentSummary, PATHS),
)
Answered = tuple[str, list[Any]]


class Server:
    """A namespace with the interface of a server."""

    def __init__(self) -> None:
        self.namespace = Namespace()
        self.number = 0
        self.write(ops.OpenSession())

    def write(self, operation: Any) -> Answered:
        self.number += 1
        try:
            record = self.namespace.plan(operation, OpId("c", self.number), self.number, self.number)
        except FsError as error:
            return error.name, []
        self.namespace.apply(record)
        return "", msgspec.to_builtins(record.result)

    def read(self, operation: Any) -> Answered:
        try:
            return "", msgspec.to_builtins(self.namespace.read(operation))
        except FsError as error:
            return error.name, []


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(WRITES, READS), max_size=30), st.integers(0, 30))
def test_the_model_gives_what_a_server_gives(steps: list[tuple[Any, Any]], forget_after: int) -> None:
    server, model = Server(), Model()
    seen: list[tuple[int, list[Any], Answered]] = []
    for position, (write, read) in enumerate(steps, 1):
        operation = msgspec.to_builtins(write)
        answered = server.write(write)
        change = model.look if answered[0] else model.run
        assert difference(change(operation, position), *answered) == "", operation
        seen.append((position, msgspec.to_builtins(read), server.read(read)))
    model.past.forget_before(forget_after)
    for position, operation, answered in seen:
        if position >= forget_after:
            assert difference(model.look(operation, position), *answered) == "", operation


def test_what_was_deleted_is_forgotten() -> None:
    model = Model()
    for position in range(1, 2001, 2):
        model.run(["Create", f"/f{position}", 0o644], position)
        model.run(["Delete", f"/f{position}", False], position + 1)
        model.past.forget_before(position - 10)
    assert model.root.names is not None and len(model.root.names) < 10


def test_a_result_of_another_kind_is_a_difference() -> None:
    model = Model()
    expected = model.run(["Create", "/a", 0o644], 1)
    assert difference(expected, "", ["Done"]) == "a result of another kind"
    assert difference(expected, "", []) == "a result of another kind"
