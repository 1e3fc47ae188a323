"""S2PC-MP: an operation on exactly two groups in three messages and four log writes (DCFS2 §4.2, Fig. 3a; recovery §4.4).

The coordinator logs its own part, and its request is its yes. The participant carries its part out, logs Commit or Abort, and so decides. A
half-done operation stays in the waiting queue, `Crossing.begun`, while others continue. A log write is a commit of the replicated group.
"""

from __future__ import annotations

from collections import Counter, deque

from nodes.errors import FsError
from nodes.metadata.changes import Change, NewInode
from nodes.metadata.cross_group_memory import Begun, Key
from nodes.metadata.effects import Busy, Changed, check
from nodes.metadata.operations import Done, Failed, Made
from nodes.metadata.plans import Split
from nodes.metadata.records import BeginRecord, DecideRecord, FinishRecord, VoteRecord
from nodes.metadata.tree import Tree
from nodes.protocols.dcfs2.messages import AbortReq, Ack, CommitReq, DecisionReq, OpReq
from nodes.protocols.dcfs2.pending_messages import RESEND_NS, Unanswered
from nodes.slots import GroupHost, Position
from nodes.units import DIRECTORY, OpId

BUSY = "busy"
"""Error of a no vote that may be requested again."""
MOVED = "moved"
"""Error of a no vote after which the operation must be planned again: the state it was planned on has changed."""
IN_DOUBT_MAX = 3_072
"""Largest number of operations whose decision is requested from one group at once after a takeover. More follow when half are answered: a connection
holds some thousands."""


class S2pc:
    """Coordinator and participant, for one tenure."""

    def __init__(self, host: GroupHost):
        self._host = host
        self._asks: dict[int, type[OpReq] | type[DecisionReq]] = {}
        """The last question about each operation that is begun and logged here."""
        self._unasked: dict[int, deque[int]] = {}
        """Operations of the previous tenure whose decision has not been requested yet, by participant's group."""
        self._in_doubt: Counter[int] = Counter()
        """Number of requested decisions without an answer, by participant's group: a group without an active answers none for long."""

    # --- coordinator -----------------------------------------------------------------------------------------------

    def begin(self, op_id: OpId, lowest_open: int, split: Split) -> None:
        """Logs the result of the own part, then asks the other group."""
        host = self._host
        seq = host.namespace.crossing.next_seq
        peers = dict(sorted(split.parts.items()))
        own = peers.pop(host.group)
        record = BeginRecord(op_id, lowest_open, host.now_ns(), Done(), seq, own, peers, False)
        host.record(record, lambda: self._request(seq, OpReq, host.namespace.crossing.finished_below))

    def ask(self, seq: int, kind: type[OpReq] | type[DecisionReq]) -> None:
        self._request(seq, kind, self._host.namespace.crossing.finished_below)

    def _request(self, seq: int, kind: type[OpReq] | type[DecisionReq], finished_below: int) -> None:
        host = self._host
        begun = host.namespace.crossing.begun.get(seq)
        if begun is None:
            return
        self._asks[seq] = kind
        ((group, changes),) = begun.peers.items()
        head = (host.group, seq, host.epoch, finished_below)
        if kind is OpReq:
            host.send_to(group, OpReq(*head, changes, host.now_ns()))
        else:
            host.send_to(group, DecisionReq(*head, host.now_ns()))

    def on_commit_req(self, message: CommitReq) -> None:
        begun = self._host.namespace.crossing.begun.get(message.seq)
        if begun is not None and not begun.coordinated and len(message.numbers) < made_by(begun):
            # Only a group that was forced asks so late: the other one has ended the operation, and forgotten what it made.
            self._decide(message, False, [], BUSY)
        else:
            self._decide(message, True, message.numbers, "")

    def on_abort_req(self, message: AbortReq) -> None:
        self._decide(message, False, [], message.error)

    def _decide(self, message: CommitReq | AbortReq, commit: bool, numbers: list[int], error: str) -> None:
        """Logs the participant's decision here, answers the client, and acknowledges the decision."""
        host, seq = self._host, message.seq
        begun = host.namespace.crossing.begun.get(seq)
        if begun is None or begun.coordinated:
            if begun is None and seq < host.namespace.crossing.next_seq:
                host.after_commit(lambda: self._acknowledge(message))
            return
        group = participant_of(begun)
        if self._asks.pop(seq, None) is DecisionReq and self._in_doubt[group]:
            self._in_doubt[group] -= 1
            if self._in_doubt[group] <= IN_DOUBT_MAX // 2:
                self._ask_for_decisions(group)
        at = host.position()
        result, again = outcome(numbers, error, at), host.again(begun.op_id)

        def logged() -> None:
            if error in (BUSY, MOVED):
                again()
            else:
                host.answer(begun.op_id, result, error, at)
            self._acknowledge(message)

        host.record(
            DecideRecord(begun.op_id, begun.lowest_open, at.at_ns, result, seq, commit, numbers), logged
        )
        host.wake()

    def undo_with(self, group: int) -> None:
        """Recover-END: aborts undecided operations that were begun with this group, and plans their calls again (DCFS2 §4.4)."""
        host = self._host
        for seq, begun in list(host.namespace.crossing.begun.items()):
            if begun.coordinated or group not in begun.peers:
                continue
            self._asks.pop(seq, None)
            record = DecideRecord(begun.op_id, begun.lowest_open, host.now_ns(), Done(), seq, False, [])
            host.record(record, host.again(begun.op_id))
        host.wake()

    def _acknowledge(self, message: CommitReq | AbortReq) -> None:
        self._host.send_to(message.voter, Ack(self._host.group, message.seq, self._host.now_ns()))

    # --- participant -----------------------------------------------------------------------------------------------

    def on_op_req(self, message: OpReq) -> None:
        host, crossing = self._host, self._host.namespace.crossing
        key = (message.group, message.seq)
        if key in crossing.voted:
            host.after_commit(lambda: self._report_vote(key))
        elif not self._is_over(key):
            error, numbers = (BUSY, []) if host.draining else promise(host.namespace.tree, message.changes)
            self._vote(key, message.changes if not error else [], numbers, error, message.finished_below)

    def on_decision_req(self, message: DecisionReq) -> None:
        """A participant without a record of the operation decides Abort before it answers (DCFS2 §4.4.1; safety rule 11); the unreplicated paper
        answers without a record."""
        host, crossing = self._host, self._host.namespace.crossing
        key = (message.group, message.seq)
        if key in crossing.voted:
            host.after_commit(lambda: self._report_vote(key))
        elif host.unreplicated_paper:
            host.send_to(key[0], AbortReq(*key, host.group, BUSY, host.now_ns()))
        elif not self._is_over(key):
            self._vote(key, [], [], BUSY, message.finished_below)
        else:
            host.after_commit(lambda: self._report_ended(key))

    def _report_ended(self, key: Key) -> None:
        """The coordinator had logged the decision. Its group was forced and has lost it, or this is a late copy of its question: then it knows."""
        host = self._host
        if host.namespace.crossing.finished.get(key):
            host.send_to(key[0], CommitReq(*key, host.group, [], host.now_ns()))
        else:
            host.send_to(key[0], AbortReq(*key, host.group, BUSY, host.now_ns()))

    def _is_over(self, key: Key) -> bool:
        """Whether a message about the operation is late. With the hole open only the log decides, from which End has removed the operation."""
        if self._host.holes.abort_without_record:
            return False
        return self._host.namespace.crossing.is_over(key)

    def _vote(
        self, key: Key, changes: list[Change], numbers: list[int], error: str, finished_below: int
    ) -> None:
        record = VoteRecord(self._host.now_ns(), *key, not error, changes, numbers, error, finished_below)
        self._host.record(record, lambda: self._report_vote(key))
        self._host.wake()

    def report_vote(self, key: Key) -> None:
        """Sends this participant's decision when it is committed."""
        self._host.after_commit(lambda: self._report_vote(key))

    def _report_vote(self, key: Key) -> None:
        host = self._host
        voted = host.namespace.crossing.voted.get(key)
        if voted is None:
            return
        if voted.commit:
            host.send_to(key[0], CommitReq(*key, host.group, voted.numbers, host.now_ns()))
        else:
            host.send_to(key[0], AbortReq(*key, host.group, voted.error, host.now_ns()))

    def on_ack(self, message: Ack) -> None:
        key = (message.group, message.seq)
        if key in self._host.namespace.crossing.voted:
            self._host.record(FinishRecord(self._host.now_ns(), *key), lambda: None)
            self._host.wake()

    # --- recovery and lost messages --------------------------------------------------------------------------------

    def resume(self) -> None:
        """A coordinator that took over asks for decisions; a participant sends its own again (DCFS2 §4.4.1, DCFS2 §4.4.2)."""
        for seq, begun in self._host.namespace.crossing.begun.items():
            if not begun.coordinated:
                self._unasked.setdefault(participant_of(begun), deque()).append(seq)
        for group in self._unasked:
            self._ask_for_decisions(group)

    def _ask_for_decisions(self, group: int) -> None:
        crossing = self._host.namespace.crossing
        finished_below = crossing.finished_below
        unasked = self._unasked.get(group, deque())
        while unasked and self._in_doubt[group] < IN_DOUBT_MAX:
            seq = unasked.popleft()
            if seq in crossing.begun:
                self._in_doubt[group] += 1
                self._request(seq, DecisionReq, finished_below)

    async def resend(self) -> None:
        """Sends unanswered messages again, without end."""
        asked: Unanswered[int] = Unanswered()
        reported: Unanswered[Key] = Unanswered()
        while True:
            await self._host.world.clock.sleep(RESEND_NS)
            crossing = self._host.namespace.crossing
            finished_below = crossing.finished_below
            for seq in asked.due(self._asks):
                self._request(seq, self._asks[seq], finished_below)
            for key in reported.due(crossing.voted):
                self._host.after_commit(lambda key=key: self._report_vote(key))  # type: ignore[misc]


def participant_of(begun: Begun) -> int:
    """The only other group of an operation by S2PC-MP."""
    (group,) = begun.peers
    return group


def made_by(begun: Begun) -> int:
    """Number of inodes that the participant makes."""
    return sum(isinstance(change, NewInode) for changes in begun.peers.values() for change in changes)


def promise(tree: Tree, changes: list[Change]) -> tuple[str, list[int]]:
    """The error of changes that cannot be carried out here, empty if they can, and the numbers of the inodes they would make."""
    try:
        for change in changes:
            check(tree, change)
    except FsError as error:
        return str(error), []
    except Changed:
        return MOVED, []
    except Busy:
        return BUSY, []
    numbers: list[int] = []
    for change in changes:
        if isinstance(change, NewInode):
            numbers.append(tree.next_number + len(numbers) | (DIRECTORY if change.directory else 0))
    return "", numbers


def outcome(numbers: list[int], error: str, at: Position) -> Made | Done | Failed:
    """The remembered outcome of a call with its decision: the last inode it made, or its final refusal."""
    if error and error not in (BUSY, MOVED):
        return Failed(error, *at)
    return Made(numbers[-1]) if numbers else Done()
