"""Recovery of an unreplicated server as in DCFS2 §4.4: the whole cluster pauses, and ends with Recover-END and an undo at the peers.

It exists only in the variant `paper` with groups of one server each (safety rule 11). Replicated groups ask per operation instead
(`S2pc.resume`).

1. The restarted server takes no requests and informs all others, which also take none and flush their logs.
2. It asks for the decision of each undecided operation that it coordinates, and waits. A participant without a record answers so, and does
   not record its answer: a late request is carried out all the same (hole `abort_without_record`).
3. It sends each decision of its own that the coordinator has not acknowledged again, and waits.
4. Recover-END: the others undo the operations that they began with this server and that it has no record of, and resume. When all have
   answered, it resumes too.

A second server that does not answer blocks the whole cluster, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable

from nodes.protocols.dcfs2.messages import DecisionReq, RecoverBegin, RecoverBegun, RecoverEnd, RecoverEnded
from nodes.protocols.dcfs2.pending_messages import RESEND_NS
from nodes.protocols.dcfs2.s2pc import S2pc
from nodes.slots import GroupHost


class PausedRecovery:
    """Both sides for one tenure: the restarted server, and the servers that wait for it."""

    def __init__(self, host: GroupHost, s2pc: S2pc):
        self._host = host
        self._s2pc = s2pc
        self._others = [group for group in host.groups if group != host.group]
        self.recovering = True
        """Requests of other groups are not taken: an operation without a record here will be undone by them."""
        self._answered: list[int] = []
        """Groups that have answered the present step."""
        self._waits_for: list[int] = []

    # --- the server that was restarted ---------------------------------------------------------------------------

    def begin(self) -> None:
        """Runs before the first request of the tenure is carried out."""
        self._host.hold()
        self._host.scope.spawn(self._run(), "recovery of the whole cluster")

    async def _run(self) -> None:
        host, crossing = self._host, self._host.namespace.crossing
        await self._all_answer(lambda: RecoverBegin(host.group, host.epoch, host.now_ns()))
        for seq in [seq for seq, begun in crossing.begun.items() if not begun.coordinated]:
            while seq in crossing.begun:
                self._s2pc.ask(seq, DecisionReq)
                await host.world.clock.sleep(RESEND_NS)
        for key in list(crossing.voted):
            while key in crossing.voted:
                self._s2pc.report_vote(key)
                await host.world.clock.sleep(RESEND_NS)
        self._answered = []
        await self._all_answer(lambda: RecoverEnd(host.group, host.epoch, host.now_ns()))
        self.recovering = False
        host.release()

    async def _all_answer(self, message: Callable[[], RecoverBegin | RecoverEnd]) -> None:
        """Sends the message until every other group has answered."""
        while missing := [group for group in self._others if group not in self._answered]:
            for group in missing:
                self._host.send_to(group, message())
            await self._host.world.clock.sleep(RESEND_NS)

    def on_begun(self, message: RecoverBegun) -> None:
        self._note(message)

    def on_ended(self, message: RecoverEnded) -> None:
        self._note(message)

    def _note(self, message: RecoverBegun | RecoverEnded) -> None:
        if message.epoch == self._host.epoch and message.answering not in self._answered:
            self._answered.append(message.answering)

    # --- the others ----------------------------------------------------------------------------------------------

    def on_begin(self, message: RecoverBegin) -> None:
        """Takes no requests from now on; answers when everything up to here is committed."""
        host, group, epoch = self._host, message.group, message.epoch
        if group not in self._waits_for:
            self._waits_for.append(group)
            host.hold()
        host.after_commit(lambda: host.send_to(group, RecoverBegun(group, epoch, host.group, host.now_ns())))

    def on_end(self, message: RecoverEnd) -> None:
        """Undoes the operations that the recovering server has no record of, and resumes."""
        host, group, epoch = self._host, message.group, message.epoch
        if group in self._waits_for:
            self._s2pc.undo_with(group)
            self._waits_for.remove(group)
            host.release()
        host.after_commit(lambda: host.send_to(group, RecoverEnded(group, epoch, host.group, host.now_ns())))
