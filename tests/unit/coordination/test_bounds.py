"""Bounds of the embedded server against clients that only take: connections, sessions, paths, watches, room; and its owner's root."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError

from nodes.coordination import operations as ops
from nodes.coordination import paths, tree, watches
from nodes.coordination.acl import ALL_PERMISSIONS, AclEntry, owned_by
from nodes.coordination.codes import Code
from nodes.coordination.log import TransactionLog
from nodes.coordination.requests import Connect
from nodes.coordination.service import SESSIONS_MAX, UNPROVEN_MAX, ZooKeeperService
from nodes.coordination.tree import ZnodeTree
from nodes.real.authentication import authenticated
from nodes.wire.keys import coordination_identity
from tests.conformance.coordination import services
from tests.conformance.coordination.wire import Wire

PASSWORD = "no secret"
OWNER = coordination_identity(PASSWORD)


def session(made: ZnodeTree) -> int:
    return made.open_session(1_000, 0).number


def test_a_long_path_is_refused_before_it_is_kept() -> None:
    made = ZnodeTree()
    one, kept = session(made), paths._is_well_formed.cache_info().currsize
    for number in range(50):
        long = f"/{number}" + "x" * paths.PATH_MAX
        for op in (
            ops.CreateZnode(long),
            ops.Exists(long, watch=True),
            ops.SetWatches(0, [long], [long], [long]),
        ):
            assert made.submit(one, op, 0).code
    assert paths._is_well_formed.cache_info().currsize <= kept + 3
    assert made.watches.count() == 0


def test_a_session_watches_so_many_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watches, "WATCHES_MAX", 3)
    made = ZnodeTree()
    one, other = session(made), session(made)
    codes = [made.submit(one, ops.Exists(f"/{number}", watch=True), 0).code for number in range(5)]
    assert codes == [Code.NO_NODE] * 3 + [Code.QUOTA_EXCEEDED] * 2
    assert made.submit(one, ops.Exists("/1", watch=True), 0).code == Code.NO_NODE
    assert made.submit(other, ops.Exists("/9", watch=True), 0).code == Code.NO_NODE
    made.disconnected(one)
    assert made.submit(one, ops.Exists("/8", watch=True), 0).code == Code.NO_NODE


def test_the_tree_has_so_much_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "BYTES_MAX", 100)
    made = ZnodeTree()
    one = session(made)
    assert made.submit(one, ops.CreateZnode("/a", bytes(90)), 0).code == 0
    assert made.submit(one, ops.CreateZnode("/b", bytes(10)), 0).code == Code.QUOTA_EXCEEDED
    failed = ops.Multi(
        [ops.SetData("/a", bytes(10)), ops.CreateZnode("/b", bytes(50)), ops.DeleteZnode("/none")]
    )
    assert made.submit(one, failed, 0).code == Code.NO_NODE and made.bytes == 92
    assert made.submit(one, ops.SetData("/a", bytes(99)), 0).code == Code.QUOTA_EXCEEDED
    assert made.submit(one, ops.DeleteZnode("/a"), 0).code == 0 and made.bytes == 0
    assert made.submit(one, ops.CreateZnode("/b", bytes(90)), 0).code == 0


class Silent:
    """A connection that only opens."""

    def __init__(self) -> None:
        self.closed = False

    def send(self, data: bytes) -> None: ...

    def close(self) -> None:
        self.closed = True


def test_connections_without_identity_and_sessions_are_bounded(tmp_path: Path) -> None:
    async def play() -> None:
        made, log = ZnodeTree(), TransactionLog(tmp_path)
        log.open(made, 0)
        service = ZooKeeperService(made, log, lambda error: None, OWNER)
        lines = [Silent() for _ in range(UNPROVEN_MAX + 5)]
        ours = Silent()
        service.opened(ours)
        opened = service.connect(Connect(0, 1_000, 0, b""), ours)
        assert opened is not None
        service.authenticate(opened.number, OWNER, ours)
        for line in lines:
            service.opened(line)
        assert [line.closed for line in lines] == [True] * 5 + [False] * UNPROVEN_MAX and not ours.closed
        for number in range(SESSIONS_MAX):
            made.open_session(1_000, number)
        assert not service.has_room()
        await service.commits.settled()

    asyncio.run(play())


def test_only_the_owner_of_the_root_uses_the_tree(tmp_path: Path) -> None:
    process, port = services.start_embedded(tmp_path, 0, "--owner", OWNER)
    with services.ended(process):
        ours = authenticated(f"127.0.0.1:{port}", PASSWORD)
        ours.start(10)
        ours.ensure_path("/cloverlab/groups")
        unknown = KazooClient(f"127.0.0.1:{port}")
        unknown.start(10)
        for call in (
            lambda: unknown.create("/mine"),
            lambda: unknown.set("/cloverlab/groups", b"?"),
            lambda: unknown.get("/cloverlab"),
        ):
            with pytest.raises(NoAuthError):
                call()
        flood = [Wire(port) for _ in range(2 * UNPROVEN_MAX)]
        assert ours.get("/cloverlab")[0] == b""
        for each in flood:
            each.close()
        unknown.stop()
        unknown.close()
        ours.stop()
        ours.close()


def test_lists_and_what_their_owners_did_survive_a_restart(tmp_path: Path) -> None:
    async def play() -> None:
        made, log = ZnodeTree(), TransactionLog(tmp_path)
        log.open(made, 0)
        service, line = ZooKeeperService(made, log, lambda error: None, OWNER), Silent()
        opened = service.connect(Connect(0, 1_000, 0, b""), line)
        assert opened is not None
        service.authenticate(opened.number, OWNER, line)
        mine = (AclEntry(ALL_PERMISSIONS, "auth", ""),)
        for op in (
            ops.CreateZnode("/a", acl=mine),
            ops.CreateZnode("/a/b", b"1", acl=mine),
            ops.SetData("/a/b", b"2"),
        ):
            assert service.submit(opened.number, op).code == 0
        await service.commits.settled()
        log.close()

    asyncio.run(play())
    for _ in range(2):
        again, log = ZnodeTree(), TransactionLog(tmp_path)
        log.open(again, 0)
        log.close()
        assert again.nodes["/a/b"].data == b"2" and again.nodes["/a/b"].acl == owned_by(OWNER)
        assert again.submit(session(again), ops.Get("/a/b"), 0).code == Code.NO_AUTH
