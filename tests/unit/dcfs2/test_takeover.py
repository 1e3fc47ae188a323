"""A coordinator that took over asks for thousands of decisions no faster than a connection takes them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from nodes.metadata.changes import AddDentry, NewInode
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Done
from nodes.metadata.records import BeginRecord, OpenSessionRecord, Record
from nodes.protocols.dcfs2.messages import CommitReq, DecisionReq
from nodes.protocols.dcfs2.s2pc import IN_DOUBT_MAX, S2pc
from nodes.real.network import WAITING_MAX
from nodes.slots import Position
from nodes.units import ROOT, OpId

MANY = 3 * IN_DOUBT_MAX


class Host(SimpleNamespace):
    """A tenure whose records are committed at once; it collects its messages."""

    def __init__(self) -> None:
        super().__init__(namespace=Namespace(1), group=1, epoch=2, sent=[])

    def now_ns(self) -> int:
        return self.namespace.newest_ns + 1

    def position(self) -> Position:
        return Position(1, 0, self.now_ns())

    def record(self, record: Record, then: Any) -> Position:
        self.namespace.apply(record)
        then()
        return self.position()

    def send_to(self, group: int, message: Any) -> None:
        self.sent.append(message)

    def answer(self, *of_call: Any) -> None: ...
    def wake(self) -> None: ...

    def again(self, op_id: Any) -> Any:
        return lambda: None


def begun(many: int) -> tuple[Host, S2pc, list[int]]:
    """`many` operations of the earlier tenure, and their numbers."""
    host = Host()
    host.namespace.apply(OpenSessionRecord(OpId("c", 0), 0, host.now_ns(), Done()))
    seqs = []
    for number in range(1, many + 1):
        seq = host.namespace.crossing.next_seq
        own, theirs = [AddDentry(ROOT, f"f{number}", 0)], {2: [NewInode(False, 0o644)]}
        host.namespace.apply(
            BeginRecord(OpId("c", number), 1, host.now_ns(), Done(), seq, own, theirs, False)
        )
        seqs.append(seq)
    return host, S2pc(host), seqs  # type: ignore[arg-type]


def test_questions_after_a_takeover_never_fill_a_connection() -> None:
    host, s2pc, _ = begun(MANY)
    s2pc.resume()
    waiting: list[int] = []
    asked = 0
    while host.namespace.crossing.begun:
        questions = [each.seq for each in host.sent if isinstance(each, DecisionReq)]
        host.sent.clear()
        waiting += questions
        asked += len(questions)
        assert 0 < len(waiting) <= IN_DOUBT_MAX < WAITING_MAX
        seq = waiting.pop(0)
        s2pc.on_commit_req(CommitReq(1, seq, 2, [seq + 10], host.now_ns()))
    assert asked == MANY


def test_a_decision_that_came_unasked_is_not_asked_for() -> None:
    host, s2pc, seqs = begun(IN_DOUBT_MAX + 2)
    s2pc.resume()
    assert len(host.sent) == IN_DOUBT_MAX
    for seq in [seqs[-1], *seqs[: IN_DOUBT_MAX // 2]]:
        s2pc.on_commit_req(CommitReq(1, seq, 2, [seq + 10], host.now_ns()))
    assert [each.seq for each in host.sent if isinstance(each, DecisionReq)] == seqs[:-1]
