"""Two-phase commit over any number of groups: rename and link over up to four inodes, moves of directories, and the baseline (DCFS2 §4.1, Fig. 3b).

Groups are asked in ascending order of their numbers, so that two operations never wait for each other in a circle. The coordinator alone
decides. A coordinator that took over decides Abort for undecided operations.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from nodes.calls import Calls
from nodes.config import MILLISECOND, SECOND
from nodes.errors import FsError
from nodes.metadata.changes import Change, CountMove
from nodes.metadata.cross_group_memory import Begun, Key
from nodes.metadata.lookup import still_holds
from nodes.metadata.operations import Done, Failed
from nodes.metadata.plans import Look, Split, split_found
from nodes.metadata.records import (
    BeginRecord,
    DecideRecord,
    EndRecord,
    OutcomeRecord,
    PromiseRecord,
    RefuseRecord,
)
from nodes.protocols.dcfs2.messages import (
    Decided,
    Decision,
    Found,
    LookUp,
    OpReq,
    OutcomeReq,
    Vote,
    VoteReq,
)
from nodes.protocols.dcfs2.pending_messages import RESEND_NS, Unanswered
from nodes.protocols.dcfs2.s2pc import BUSY, MOVED, outcome, promise
from nodes.slots import GroupHost
from nodes.units import OpId, home_group
from nodes.world import Timer

PATIENCE_NS = 2 * SECOND
"""Time for all votes; after it the coordinator decides Abort, and the call is planned again."""
BUSY_NS = 5 * MILLISECOND
DRAIN_NS = 100 * MILLISECOND


class Coordinated:
    """Coordinator and participant, for one tenure. `early`: the part is sent before the vote is requested, as in Fig. 3b."""

    def __init__(self, host: GroupHost, early: bool):
        self._host = host
        self._early = early
        self._calls = Calls(host.world)
        self._drains_until_ns = 0
        self._ending: dict[int, set[int]] = {}
        """Groups that have not yet confirmed the decision."""

    @property
    def drains(self) -> bool:
        """A move waits for the operations that were begun before it; no further ones are begun."""
        return self._host.world.clock.monotonic_ns() < self._drains_until_ns

    # --- coordinator -----------------------------------------------------------------------------------------------

    def begin(self, op_id: OpId, lowest_open: int, split: Split, moves: int) -> None:
        """Begins an operation. With more than two groups the own group also votes in its turn; with two, the first record promises its part."""
        host = self._host
        seq = host.namespace.crossing.next_seq
        parts = dict(split.parts)
        if split.moves:
            for group in host.groups:
                parts[group] = [CountMove(), *parts.get(group, ())]
        parts = dict(sorted(parts.items()))
        own = [] if split.coordinated else parts.pop(host.group)
        record = BeginRecord(op_id, lowest_open, host.now_ns(), Done(), seq, own, parts, True)
        if self._early:
            self._send_parts(seq, parts)
        host.record(record, lambda: self._spawn(seq, moves))

    def _send_parts(self, seq: int, parts: dict[int, list[Change]]) -> None:
        """The baseline's first message; a participant examines it when the vote is requested."""
        host = self._host
        below = host.namespace.crossing.finished_below
        for group, changes in parts.items():
            if group != host.group:
                host.send_to(group, OpReq(host.group, seq, host.epoch, below, changes, host.now_ns()))

    def _spawn(self, seq: int, moves: int) -> None:
        self._host.scope.spawn(self._run(seq, moves), f"operation {seq}")

    async def _run(self, seq: int, moves: int) -> None:
        """Runs the first phase in order, then the decision."""
        host = self._host
        begun = host.namespace.crossing.begun[seq]
        numbers: list[int] = []
        error, seen_ns, theirs = "", 0, 0
        for group in sorted(begun.peers):
            deadline_ns = host.world.clock.monotonic_ns() + PATIENCE_NS
            vote = await self._vote_of(seq, group, begun.peers[group], moves, deadline_ns)
            numbers += vote.numbers
            if not vote.yes:
                error, seen_ns, theirs = vote.error, vote.at_ns, vote.moves
                break
        await host.can_commit()
        if error not in ("", BUSY, MOVED) and group < host.group and host.group in begun.peers:
            # Nothing kept the old name here until the other group saw the error: if it has changed, that error may be right at no time.
            own, _ = promise(host.namespace.tree, begun.peers[host.group])
            error, seen_ns = (MOVED if own == BUSY else own, 0) if own else (error, seen_ns)
        self._decide(seq, begun, numbers, error, seen_ns, theirs)

    async def _vote_of(
        self, seq: int, group: int, changes: list[Change], moves: int, deadline_ns: int
    ) -> Vote:
        """The vote of a group: asks until it is other than `busy`, or the time is over."""
        host = self._host
        clock = host.world.clock
        last = Vote(0, host.group, seq, group, False, [], "", 0)
        while (left_ns := deadline_ns - clock.monotonic_ns()) > 0:
            await host.can_commit()
            head = (host.group, seq, host.epoch, host.namespace.crossing.finished_below)
            request = VoteReq(0, *head, moves, changes, host.now_ns())
            reply = await self._ask(group, request, left_ns)
            if not isinstance(reply, Vote):
                continue
            last = reply
            if last.yes or last.error != BUSY or host.draining:
                return last
            await clock.sleep(BUSY_NS + host.world.rng.randrange(BUSY_NS))
        last.error = BUSY
        return last

    async def _ask(self, group: int, question: VoteReq | LookUp, timeout_ns: int) -> Any:
        """The reply to one question, None when there is none in time. Any active of that group may reply. Each copy has the same number: a reply to
        any of them counts, however long a message is under way."""
        if group == self._host.group:
            ask_own = partial(self.on_vote_req, question)  # type: ignore[arg-type]
            return await self._calls.ask_through(ask_own, question, timeout_ns)
        timer: Timer | None = None

        def send() -> None:
            nonlocal timer
            self._host.send_to(group, question)
            timer = self._host.world.clock.call_later(RESEND_NS, send)

        try:
            return await self._calls.ask_through(send, question, timeout_ns)
        finally:
            if timer is not None:
                timer.cancel()

    def on_reply(self, message: Vote | Found) -> None:
        self._calls.on_reply("", message)

    def _decide(
        self, seq: int, begun: Begun, numbers: list[int], error: str, seen_ns: int = 0, theirs: int = 0
    ) -> None:
        """Decides. A refusal has the stamp at which another group saw the error: by now the operation may be valid."""
        host = self._host
        commit = not error
        at = host.position()
        reported = at._replace(at_ns=seen_ns) if seen_ns else at
        again = host.again(begun.op_id)
        result = outcome(numbers, error, reported)

        def logged() -> None:
            self._report(seq)  # This ends the own promise, which may count a move.
            if error in (BUSY, MOVED):
                host.learn_moves(theirs)
                again()
            else:
                host.answer(begun.op_id, result, error, reported)

        host.record(
            DecideRecord(begun.op_id, begun.lowest_open, at.at_ns, result, seq, commit, numbers), logged
        )
        host.wake()

    def _report(self, seq: int) -> None:
        """Second phase: sends the decision to every group until it is confirmed."""
        host = self._host
        decided = host.namespace.crossing.decided.get(seq)
        if decided is None:
            return
        for group in sorted(self._ending.setdefault(seq, set(decided.peers))):
            decision = Decision(host.group, seq, decided.commit, decided.numbers, host.now_ns())
            if group == host.group:
                self.on_decision(decision)
            else:
                host.send_to(group, decision)

    def on_decided(self, message: Decided) -> None:
        host = self._host
        left = self._ending.get(message.seq)
        if left is None:
            return
        left.discard(message.voter)
        if not left and message.seq in host.namespace.crossing.decided:
            del self._ending[message.seq]
            host.record(EndRecord(host.now_ns(), message.seq), lambda: None)

    def on_outcome_req(self, message: OutcomeReq) -> None:
        if message.seq in self._host.namespace.crossing.decided:
            self._host.after_commit(lambda: self._report(message.seq))
        elif message.seq not in self._host.namespace.crossing.begun:
            # Nothing waits for an operation that has ended, unless a forced group has lost what it knew of it. Nor was this one begun here, unless
            # this group was forced. A record that is committed now proves that no later leader has begun it.
            lost = Decision(self._host.group, message.seq, False, [], self._host.now_ns())
            self._host.record(
                EndRecord(lost.at_ns, message.seq), lambda: self._host.send_to(message.voter, lost)
            )
            self._host.wake()

    # --- participant -----------------------------------------------------------------------------------------------

    def on_vote_req(self, message: VoteReq) -> None:
        host, crossing = self._host, self._host.namespace.crossing
        key = (message.group, message.seq)
        if key in crossing.promised:
            numbers = crossing.promised[key].numbers
            host.after_commit(lambda: self._vote(message, True, numbers, ""))
            return
        if crossing.is_over(key):
            return
        seen_ns = host.now_ns()
        error, numbers = (BUSY, []) if host.draining else promise(host.namespace.tree, message.changes)
        if host.namespace.tree.moves != message.moves:
            error = MOVED
            host.learn_moves(message.moves)
        elif error == BUSY and any(isinstance(change, CountMove) for change in message.changes):
            self._drains_until_ns = host.world.clock.monotonic_ns() + DRAIN_NS
        if error:
            host.after_commit(lambda: self._vote(message, False, [], error, seen_ns))
            return
        self._drains_until_ns = 0
        record = PromiseRecord(host.now_ns(), *key, message.changes, numbers, message.finished_below)
        host.record(record, lambda: self._vote(message, True, numbers, ""))

    def _vote(self, asked: VoteReq, yes: bool, numbers: list[int], error: str, seen_ns: int = 0) -> None:
        host = self._host
        at_ns = seen_ns or host.now_ns()
        vote = Vote(
            asked.call,
            asked.group,
            asked.seq,
            host.group,
            yes,
            numbers,
            error,
            at_ns,
            host.namespace.tree.moves,
        )
        if asked.group == host.group:
            self.on_reply(vote)
        else:
            host.send_to(asked.group, vote)

    def on_decision(self, message: Decision) -> None:
        host, crossing = self._host, self._host.namespace.crossing
        key = (message.group, message.seq)
        if key not in crossing.promised and crossing.is_over(key):
            host.after_commit(lambda: self._knows(key))
            return
        record = OutcomeRecord(host.now_ns(), *key, message.commit, message.numbers)
        host.record(record, lambda: self._knows(key))
        host.wake()

    def _knows(self, key: Key) -> None:
        host = self._host
        decided = Decided(*key, host.group, host.now_ns())
        if key[0] == host.group:
            self.on_decided(decided)
        else:
            host.send_to(key[0], decided)

    # --- rename and link ---------------------------------------------------------------------------------------------

    def look(self, op_id: OpId, lowest_open: int, plan: Look, moves: int) -> None:
        self._host.scope.spawn(self._look(op_id, lowest_open, plan, moves), "look")

    async def _look(self, op_id: OpId, lowest_open: int, plan: Look, moves: int) -> None:
        """Asks which object has the new name, then begins; the promises check that this is still true."""
        host = self._host
        question = LookUp(0, host.group, plan.to_parent, plan.to_name, host.now_ns())
        found = None
        deadline_ns = host.world.clock.monotonic_ns() + PATIENCE_NS
        while (left_ns := deadline_ns - host.world.clock.monotonic_ns()) > 0:
            found = await self._ask(home_group(plan.to_parent), question, left_ns)
            if found is not None and found.error != BUSY:
                break
            await host.world.clock.sleep(BUSY_NS + host.world.rng.randrange(BUSY_NS))
        await host.can_commit()
        holds = still_holds(host.namespace.tree, plan.place, moves)
        if found is None or found.error == BUSY or not holds or host.draining:
            host.again(op_id)()
            return
        if found.error:
            # With the same start, the other group would give the same answer for ever.
            host.resolve_anew(op_id)
            return
        try:
            split = split_found(plan, found.child)
        except FsError as refused:
            if host.namespace.tree.inodes[plan.place.parent.number].mtime_ns != plan.changed_ns:
                host.again(op_id)()
                return
            self._refuse(op_id, lowest_open, str(refused), found.at_ns)
            return
        self.begin(op_id, lowest_open, split, moves)

    def _refuse(self, op_id: OpId, lowest_open: int, error: str, seen_ns: int) -> None:
        """Refuses with the stamp at which the other group saw the name."""
        host = self._host
        at = host.position()
        reported = at._replace(at_ns=seen_ns)
        record = RefuseRecord(op_id, lowest_open, at.at_ns, Failed(error, *reported))
        host.record(record, lambda: host.answer(op_id, None, error, reported))

    def on_look_up(self, peer: str, message: LookUp) -> None:
        host, tree = self._host, self._host.namespace.tree
        parent = tree.inodes.get(message.parent)
        error, child = "", 0
        if parent is None or parent.entries is None:
            error = MOVED
        elif (message.parent, message.name) in tree.locks.names or message.parent in tree.locks.exclusive:
            # A directory whose removal is promised may be gone already: a name is not absent from it, its path does not exist.
            error = BUSY
        else:
            child = parent.entries.get(message.name, 0)
        found = Found(message.call, child, error, host.now_ns())
        host.after_commit(lambda: host.world.network.send(peer, found))

    # --- recovery and lost messages --------------------------------------------------------------------------------

    def resume(self) -> None:
        """Aborts operations that were begun and not decided, and sends decisions again."""
        crossing = self._host.namespace.crossing
        for seq, begun in list(crossing.begun.items()):
            if begun.coordinated:
                self._decide(seq, begun, [], BUSY)
        for seq in list(crossing.decided):
            self._host.after_commit(lambda seq=seq: self._report(seq))  # type: ignore[misc]

    async def resend(self) -> None:
        """Sends unanswered messages again, without end."""
        reported: Unanswered[int] = Unanswered()
        asked: Unanswered[Key] = Unanswered()
        while True:
            await self._host.world.clock.sleep(RESEND_NS)
            crossing = self._host.namespace.crossing
            for seq in reported.due(crossing.decided):
                self._host.after_commit(lambda seq=seq: self._report(seq))  # type: ignore[misc]
            for key in asked.due(crossing.promised):
                self._ask_outcome(key)

    def _ask_outcome(self, key: Key) -> None:
        host = self._host
        if key[0] != host.group:
            host.send_to(key[0], OutcomeReq(*key, host.group, host.now_ns()))
