"""The tree against a simple second implementation under random input."""

from __future__ import annotations

import copy

from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.coordination import operations as ops
from nodes.coordination.codes import Code
from nodes.coordination.image import dump, load
from nodes.coordination.tree import ZnodeTree

PATHS = st.sampled_from(["/a", "/b", "/a/x", "/a/y", "/a/x/z", "/b/x", "/", "/a//b"])
VERSIONS = st.sampled_from([-1, -1, 0, 1, 2])
BASIC = st.one_of(
    st.builds(ops.CreateZnode, PATHS, st.binary(max_size=2), st.booleans(), st.booleans()),
    st.builds(ops.DeleteZnode, PATHS, VERSIONS),
    st.builds(ops.SetData, PATHS, st.binary(max_size=2), VERSIONS),
    st.builds(ops.CheckVersion, PATHS, VERSIONS),
)
OPERATIONS = st.one_of(BASIC, st.builds(ops.Multi, st.lists(BASIC, max_size=4)), st.builds(ops.RemoveSession))
SCRIPT = st.lists(st.tuples(st.sampled_from([1, 2, 3]), OPERATIONS), max_size=40)


class Refusal(Exception):
    pass


class Model:
    """Nodes as path → [data, version, owner, creations]; children are found by a scan of all paths."""

    def __init__(self) -> None:
        self.nodes: dict[str, list] = {"/": [b"", 0, 0, 0]}
        self.sessions = [1, 2, 3]

    def children(self, path: str) -> list[str]:
        prefix = path.rstrip("/") + "/"
        below = (other[len(prefix) :] for other in self.nodes if other.startswith(prefix) and other != "/")
        return sorted(name for name in below if "/" not in name)

    def node(self, path: str) -> list:
        if path not in self.nodes:
            raise Refusal(Code.NO_NODE)
        return self.nodes[path]

    def one(self, session: int, op: ops.Operation) -> None:
        version = getattr(op, "version", -1)
        parent = op.path.rpartition("/")[0] or "/"
        if isinstance(op, ops.CreateZnode):
            above = self.node(parent)
            path = op.path + (f"{above[3]:010d}" if op.sequential else "")
            if path == "/":
                raise Refusal(Code.NODE_EXISTS)
            if "//" in path:
                raise Refusal(Code.BAD_ARGUMENTS)
            if path in self.nodes:
                raise Refusal(Code.NODE_EXISTS)
            if above[2]:
                raise Refusal(Code.NO_CHILDREN_FOR_EPHEMERALS)
            above[3] += 1
            self.nodes[path] = [op.data, 0, session if op.ephemeral else 0, 0]
            return
        if isinstance(op, ops.DeleteZnode) and op.path == "/":
            raise Refusal(Code.BAD_ARGUMENTS)
        if isinstance(op, ops.DeleteZnode):
            self.node(parent)
        elif "//" in op.path:
            raise Refusal(Code.BAD_ARGUMENTS)
        node = self.node(op.path)
        if version not in (-1, node[1]):
            raise Refusal(Code.BAD_VERSION)
        if isinstance(op, ops.DeleteZnode):
            if self.children(op.path):
                raise Refusal(Code.NOT_EMPTY)
            del self.nodes[op.path]
        elif isinstance(op, ops.SetData):
            node[0], node[1] = op.data, node[1] + 1

    def submit(self, session: int, op: ops.Operation) -> int:
        if session not in self.sessions:
            return Code.SESSION_EXPIRED
        if isinstance(op, ops.RemoveSession):
            self.sessions.remove(session)
            self.nodes = {path: node for path, node in self.nodes.items() if node[2] != session}
            return Code.OK
        before = copy.deepcopy(self.nodes)
        try:
            for each in op.operations if isinstance(op, ops.Multi) else [op]:
                self.one(session, each)
        except Refusal as refusal:
            self.nodes = before
            return refusal.args[0]
        return Code.OK


def fresh() -> ZnodeTree:
    tree = ZnodeTree()
    for _ in range(3):
        tree.open_session(1_000, 0)
    return tree


def agree(tree: ZnodeTree, model: Model) -> None:
    assert sorted(tree.nodes) == sorted(model.nodes)
    for path, (data, version, owner, creations) in model.nodes.items():
        node, names = tree.nodes[path], model.children(path)
        stat = node.stat()
        assert (node.data, stat.version, stat.ephemeral_owner) == (data, version, owner)
        assert sorted(node.children) == names and stat.num_children == len(names)
        assert stat.cversion == 2 * creations - len(names)
    for number in model.sessions:
        owned = sorted(path for path, node in model.nodes.items() if node[2] == number)
        assert sorted(tree.sessions.open[number].ephemerals) == owned


@settings(max_examples=300, deadline=None)
@given(SCRIPT)
def test_results_and_nodes_equal_the_model(script: list[tuple[int, ops.Operation]]) -> None:
    tree, model = fresh(), Model()
    for session, op in script:
        before, zxid = dump(tree), tree.zxid
        result = tree.submit(session, op, 1)
        assert result.code == model.submit(session, op)
        assert tree.zxid == zxid + result.changed
        assert result.changed or dump(tree) == before
        agree(tree, model)


@settings(max_examples=100, deadline=None)
@given(SCRIPT)
def test_submitting_what_changed_again_makes_the_same_tree(script: list[tuple[int, ops.Operation]]) -> None:
    tree, other = fresh(), fresh()
    for at_ms, (session, op) in enumerate(script):
        if tree.submit(session, op, at_ms).changed:
            other.submit(session, op, at_ms)
    assert dump(tree) == dump(other)
    third = ZnodeTree()
    load(third, dump(tree), 0)
    assert dump(third) == dump(tree)


@settings(max_examples=150, deadline=None)
@given(SCRIPT)
def test_who_watches_a_path_hears_of_each_first_change(script: list[tuple[int, ops.Operation]]) -> None:
    """A watch fires exactly when existence, data or the list of children differ from what was read."""
    tree = fresh()
    watcher = tree.open_session(1_000, 0).number
    for session, op in script:
        seen = {}
        for path in ("/a", "/a/x"):
            stat = tree.submit(watcher, ops.Exists(path, True), 1).stat
            tree.submit(watcher, ops.GetChildren(path, True), 1)
            seen[path] = stat and (stat.czxid, stat.mzxid, stat.pzxid)
        reported = {event.path for event in tree.submit(session, op, 1).events if event.session == watcher}
        for path, before in seen.items():
            stat = tree.submit(watcher, ops.Exists(path), 1).stat
            differs = before != (stat and (stat.czxid, stat.mzxid, stat.pzxid))
            assert not differs or path in reported
            assert path not in reported or differs or isinstance(op, ops.Multi)
        tree.disconnected(watcher)
        assert tree.watches.count() == 0
