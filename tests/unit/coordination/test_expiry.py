"""Sessions end in time, not before, and all of one pass together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nodes.coordination import operations as ops
from nodes.coordination.codes import Code
from nodes.coordination.operations import TreeChange
from nodes.coordination.tree import OPERATOR, ZnodeTree


@given(st.integers(0, 10**9), st.integers(200, 60_000), st.integers(1, 500))
def test_expiry_is_never_early_and_at_most_one_tick_late(now_ms: int, timeout_ms: int, tick_ms: int) -> None:
    tree = ZnodeTree(tick_ms=tick_ms)
    session = tree.open_session(timeout_ms, now_ms)
    assert tree.sessions.due(now_ms + timeout_ms) == []
    assert tree.sessions.due(now_ms + timeout_ms + tick_ms) == [session.number]
    due_ms = tree.sessions.next_due_ms()
    assert due_ms is not None and now_ms + timeout_ms < due_ms <= now_ms + timeout_ms + tick_ms


def test_touching_moves_the_end_and_closing_forgets_it() -> None:
    tree = ZnodeTree()
    session = tree.open_session(1_000, 0).number
    assert tree.touch(session, 900)
    assert tree.expire_due(1_500) == []
    tree.close_session(session, 1_600)
    assert not tree.touch(session, 1_700)
    assert tree.sessions.next_due_ms() is None and tree.expire_due(9_999) == []


def test_all_expiries_of_a_pass_report_the_same_time_and_cause() -> None:
    tree = ZnodeTree()
    received: list[TreeChange] = []
    first, second = tree.open_session(1_000, 0).number, tree.open_session(1_000, 30).number
    tree.submit(first, ops.CreateZnode("/lock", ephemeral=True), 5)
    tree.listeners.append(received.append)
    tree.expire_due(1_100, at_ms=77)
    assert [(reported.op, reported.session, reported.at_ms) for reported in received] == [
        ("expire", first, 77),
        ("expire", second, 77),
    ]
    assert [touched.path for touched in received[0].touched] == ["/lock"]
    assert tree.submit(first, ops.Get("/"), 0).code == Code.SESSION_EXPIRED


def test_the_operator_changes_nodes_but_owns_none() -> None:
    tree = ZnodeTree()
    assert tree.submit(OPERATOR, ops.CreateZnode("/a"), 0).code == Code.OK
    assert tree.submit(OPERATOR, ops.CreateZnode("/e", ephemeral=True), 0).code == Code.BAD_ARGUMENTS


def test_a_session_that_expires_does_not_hear_of_its_own_end() -> None:
    tree = ZnodeTree()
    owner, other = tree.open_session(1_000, 0).number, tree.open_session(9_000, 0).number
    tree.submit(owner, ops.CreateZnode("/e", ephemeral=True), 0)
    for session in (owner, other):
        tree.submit(session, ops.Exists("/e", True), 0)
    ((_, result),) = tree.expire_due(1_100)
    assert [(event.session, event.type, event.path) for event in result.events] == [(other, 2, "/e")]
