"""S2PC-MP: an operation on exactly two groups in three messages and four log writes (DCFS2 §4.2, Fig. 3a; recovery §4.4).

The coordinator logs its own part, and its request is its yes; the participant carries its part out, logs Commit or Abort, and so decides. A
half-done operation lies in the waiting queue, `Crossing.begun`, while others go on. A log write is a commit of the replicated group.
"""

from __future__ import annotations

from nodes.config import MILLISECOND
from nodes.errors import FsError
from nodes.metadata.changes import Change, NewInode
from nodes.metadata.crossing import Key
from nodes.metadata.effects import Busy, check
from nodes.metadata.operations import Done, Made
from nodes.metadata.planning import Split
from nodes.metadata.records import BeginRecord, DecideRecord, FinishRecord, VoteRecord
from nodes.metadata.tree import Tree
from nodes.protocols.dcfs2.messages import AbortReq, Ack, CommitReq, DecisionReq, OpReq
from nodes.slots import GroupHost
from nodes.units import DIRECTORY, OpId

RESEND_NS = 100 * MILLISECOND
BUSY = "busy"
"""Why a vote was no that may be asked for again."""


class S2pc:
    """Both sides, for one tenure."""

    def __init__(self, host: GroupHost):
        self._host = host
        self._asks: dict[int, type[OpReq] | type[DecisionReq]] = {}
        """What was last asked about the operations that are begun here and logged."""

    # --- coordinator -----------------------------------------------------------------------------------------------

    def begin(self, op_id: OpId, lowest_open: int, split: Split) -> None:
        """Logs the result of our own part, then asks the other group."""
        host = self._host
        seq = host.namespace.crossing.next_seq
        peers = dict(sorted(split.parts.items()))
        own = peers.pop(host.group)
        record = BeginRecord(op_id, lowest_open, host.now_ns(), Done(), seq, own, peers, False)
        host.record(record, lambda: self._request(seq, OpReq))

    def _request(self, seq: int, kind: type[OpReq] | type[DecisionReq]) -> None:
        host, crossing = self._host, self._host.namespace.crossing
        begun = crossing.begun.get(seq)
        if begun is None:
            return
        self._asks[seq] = kind
        ((group, changes),) = begun.peers.items()
        head = (host.group, seq, host.epoch, crossing.finished_below)
        if kind is OpReq:
            host.send_to(group, OpReq(*head, changes, host.now_ns()))
        else:
            host.send_to(group, DecisionReq(*head, host.now_ns()))

    def on_commit_req(self, message: CommitReq) -> None:
        result = Made(message.numbers[-1]) if message.numbers else Done()
        self._decide(message.seq, True, message.numbers, result, "")

    def on_abort_req(self, message: AbortReq) -> None:
        self._decide(message.seq, False, [], Done(), message.error)

    def _decide(self, seq: int, commit: bool, numbers: list[int], result: Made | Done, error: str) -> None:
        """The participant's decision is logged here, the client answered, the participant told that we know."""
        host = self._host
        begun = host.namespace.crossing.begun.get(seq)
        if begun is None or begun.coordinated:
            if begun is None and seq < host.namespace.crossing.next_seq:
                host.after_commit(lambda: self._acknowledge(seq))
            return
        self._asks.pop(seq, None)
        ((group, _),) = begun.peers.items()

        def logged() -> None:
            if commit:
                host.answer(begun.op_id, result, "", at)
            elif error == BUSY:
                host.again(begun.op_id)
            else:
                host.answer(begun.op_id, None, error)
            host.send_to(group, Ack(host.group, seq, host.now_ns()))

        at = host.record(
            DecideRecord(begun.op_id, begun.lowest_open, host.now_ns(), result, seq, commit, numbers), logged
        )
        host.wake()

    def _acknowledge(self, seq: int) -> None:
        for group in self._host.groups:
            if group != self._host.group:
                self._host.send_to(group, Ack(self._host.group, seq, self._host.now_ns()))

    # --- participant -----------------------------------------------------------------------------------------------

    def on_op_req(self, message: OpReq) -> None:
        host, crossing = self._host, self._host.namespace.crossing
        key = (message.group, message.seq)
        if key in crossing.voted:
            host.after_commit(lambda: self._tell_vote(key))
        elif not crossing.is_over(key):
            error, numbers = (BUSY, []) if host.draining else promise(host.namespace.tree, message.changes)
            self._vote(key, message.changes if not error else [], numbers, error, message.finished_below)

    def on_decision_req(self, message: DecisionReq) -> None:
        """Who has no record of an operation decides Abort before it says so (safety rule 11)."""
        host, crossing = self._host, self._host.namespace.crossing
        key = (message.group, message.seq)
        if key in crossing.voted:
            host.after_commit(lambda: self._tell_vote(key))
        elif not crossing.is_over(key):
            self._vote(key, [], [], BUSY, message.finished_below)

    def _vote(
        self, key: Key, changes: list[Change], numbers: list[int], error: str, finished_below: int
    ) -> None:
        record = VoteRecord(self._host.now_ns(), *key, not error, changes, numbers, error, finished_below)
        self._host.record(record, lambda: self._tell_vote(key))
        self._host.wake()

    def _tell_vote(self, key: Key) -> None:
        host = self._host
        voted = host.namespace.crossing.voted.get(key)
        if voted is None:
            return
        if voted.commit:
            host.send_to(key[0], CommitReq(*key, voted.numbers, host.now_ns()))
        else:
            host.send_to(key[0], AbortReq(*key, voted.error, host.now_ns()))

    def on_ack(self, message: Ack) -> None:
        key = (message.group, message.seq)
        if key in self._host.namespace.crossing.voted:
            self._host.record(FinishRecord(self._host.now_ns(), *key), lambda: None)

    # --- recovery and lost messages --------------------------------------------------------------------------------

    def resume(self) -> None:
        """A coordinator that took over asks for decisions; a participant tells its own again (§4.4.1, §4.4.2)."""
        for seq, begun in list(self._host.namespace.crossing.begun.items()):
            if not begun.coordinated:
                self._request(seq, DecisionReq)

    async def resend(self) -> None:
        """For ever: says again what has waited for a whole round."""
        asked: set[int] = set()
        voted: set[Key] = set()
        while True:
            await self._host.world.clock.sleep(RESEND_NS)
            for seq, kind in list(self._asks.items()):
                if seq in asked:
                    self._request(seq, kind)
            asked = set(self._asks)
            for key in list(self._host.namespace.crossing.voted):
                if key in voted:
                    self._host.after_commit(lambda key=key: self._tell_vote(key))  # type: ignore[misc]
            voted = set(self._host.namespace.crossing.voted)


def promise(tree: Tree, changes: list[Change]) -> tuple[str, list[int]]:
    """Why the changes cannot be carried out here, empty if they can, and the numbers of the inodes they would make."""
    try:
        for change in changes:
            check(tree, change)
    except FsError as error:
        return str(error), []
    except Busy:
        return BUSY, []
    numbers: list[int] = []
    for change in changes:
        if isinstance(change, NewInode):
            numbers.append(tree.next_number + len(numbers) | (DIRECTORY if change.directory else 0))
    return "", numbers
