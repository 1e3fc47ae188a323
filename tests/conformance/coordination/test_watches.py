"""Watches: one shot, sent before the answer that shows the change, and set again after a reconnect."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import pytest
from kazoo.client import KazooClient

from tests.conformance.coordination.wire import Frame, Wire, text, watch_of

CREATED, DELETED, CHANGED, CHILDREN = 1, 2, 3, 4
EXISTS, GET, SET, CHILDREN_OF, DELETE, SET_WATCHES, PING = 3, 4, 5, 8, 2, 101, 11
WATCH = b"\1"


@pytest.fixture
def wire(port: int) -> Iterator[Callable[..., Wire]]:
    made: list[Wire] = []

    def one(**options: object) -> Wire:
        made.append(Wire(port, **options))  # type: ignore[arg-type]
        return made[-1]

    yield one
    for each in made:
        each.close()


def frames_until_ping(wire: Wire) -> list[Frame]:
    """All frames that the server has sent by now."""
    wire.ask(PING)
    frames = []
    while (frame := wire.read()).xid != -2:
        frames.append(frame)
    return frames


def set_body(path: str, data: str, version: int = -1) -> bytes:
    return text(path) + text(data) + struct.pack("!i", version)


def test_the_watch_comes_before_the_answer_to_its_own_change(wire: Callable[..., Wire], root: str) -> None:
    one = wire()
    assert one.call(GET, text(root) + WATCH).code == 0
    one.ask(SET, set_body(root, "x"))
    first, second = one.read(), one.read()
    assert watch_of(first) == (CHANGED, root)
    assert second.xid > 0 and second.code == 0


def test_the_watch_comes_before_a_read_that_shows_the_change(wire: Callable[..., Wire], root: str) -> None:
    watcher, writer = wire(), wire()
    watcher.call(GET, text(root) + WATCH)
    assert writer.call(SET, set_body(root, "new")).code == 0
    watcher.ask(GET, text(root) + b"\0")
    assert watch_of(watcher.read()) == (CHANGED, root)
    assert b"new" in watcher.read().body


def test_a_watch_fires_once(wire: Callable[..., Wire], root: str) -> None:
    one = wire()
    one.call(GET, text(root) + WATCH)
    one.ask(SET, set_body(root, "a"))
    assert watch_of(one.read()) == (CHANGED, root)
    assert one.read().code == 0
    one.call(SET, set_body(root, "b"))
    assert frames_until_ping(one) == []


def test_each_kind_of_change_has_its_event(wire: Callable[..., Wire], root: str) -> None:
    one, writer = wire(), wire()
    path = f"{root}/a"
    assert one.call(EXISTS, text(path) + WATCH).code == -101
    one.call(CHILDREN_OF, text(root) + WATCH)
    writer.create(path)
    assert [watch_of(frame) for frame in frames_until_ping(one)] == [(CREATED, path), (CHILDREN, root)]
    one.call(GET, text(path) + WATCH)
    one.call(CHILDREN_OF, text(path) + WATCH)
    one.call(CHILDREN_OF, text(root) + WATCH)
    writer.call(DELETE, text(path) + struct.pack("!i", -1))
    assert [watch_of(frame) for frame in frames_until_ping(one)] == [(DELETED, path), (CHILDREN, root)]


def test_get_of_a_missing_node_leaves_no_watch(wire: Callable[..., Wire], root: str) -> None:
    one = wire()
    assert one.call(GET, text(f"{root}/a") + WATCH).code == -101
    one.create(f"{root}/a")
    assert frames_until_ping(one) == []


def test_setting_data_does_not_wake_who_watches_children(wire: Callable[..., Wire], root: str) -> None:
    one = wire()
    one.call(CHILDREN_OF, text(root) + WATCH)
    one.call(SET, set_body(root, "x"))
    assert frames_until_ping(one) == []


def test_watches_end_with_the_connection(wire: Callable[..., Wire], root: str) -> None:
    one = wire()
    one.call(GET, text(root) + WATCH)
    one.close()
    again = wire(session=one.session, password=one.password)
    assert again.session == one.session
    again.call(SET, set_body(root, "x"))
    assert frames_until_ping(again) == []


def paths(*several: str) -> bytes:
    return struct.pack("!i", len(several)) + b"".join(map(text, several))


def test_watches_set_again_fire_at_once_for_what_changed(wire: Callable[..., Wire], root: str) -> None:
    one, writer = wire(), wire()
    for name in ("changed", "removed", "parent", "quiet"):
        writer.create(f"{root}/{name}")
    seen = one.call(EXISTS, text(root) + b"\0").zxid
    one.close()
    writer.call(SET, set_body(f"{root}/changed", "x"))
    writer.call(DELETE, text(f"{root}/removed") + struct.pack("!i", -1))
    writer.create(f"{root}/parent/child")
    writer.create(f"{root}/made")
    again = wire(session=one.session, password=one.password)
    body = struct.pack("!q", seen) + paths(f"{root}/changed", f"{root}/removed", f"{root}/quiet")
    again.ask(SET_WATCHES, body + paths(f"{root}/made", f"{root}/later") + paths(f"{root}/parent"))
    frames = [again.read() for _ in range(5)]
    events = {watch_of(frame) for frame in frames if frame.xid == -1}
    expected = {(CHANGED, "changed"), (DELETED, "removed"), (CREATED, "made"), (CHILDREN, "parent")}
    assert events == {(kind, f"{root}/{name}") for kind, name in expected}
    writer.create(f"{root}/later")
    writer.call(SET, set_body(f"{root}/quiet", "x"))
    later = {watch_of(frame) for frame in frames_until_ping(again)}
    assert later == {(CREATED, f"{root}/later"), (CHANGED, f"{root}/quiet")}


def test_a_failed_multi_wakes_nobody(client: KazooClient, wire: Callable[..., Wire], root: str) -> None:
    one = wire()
    one.call(GET, text(root) + WATCH)
    several = client.transaction()
    several.set_data(root, b"x")
    several.delete(f"{root}/none")
    several.commit()
    assert frames_until_ping(one) == []
