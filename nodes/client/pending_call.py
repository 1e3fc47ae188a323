"""One pending call: the server that was asked, and the number of referrals."""

from __future__ import annotations

import asyncio

from nodes.metadata.lookup import Start
from nodes.metadata.operations import Operation
from nodes.trace.events import Called
from nodes.wire.messages import Answer, Checked, Referred, Refused, ViewCopy

NO_PAUSE = asyncio.Event()
Reply = Answer | Refused | Referred | Checked | ViewCopy | None


class PendingCall:
    def __init__(self, number: int, operation: Operation, began_ns: int, group: int, moves: int):
        self.number = number
        self.operation = operation
        self.began_ns = began_ns
        self.group = group
        self.began_moves = self.moves = moves
        """Number of directory moves known to the client when the call began, and when `starts` were resolved."""
        self.starts: list[Start] = []
        self.server = ""
        """The server that was asked last."""
        self.waiting: asyncio.Future[tuple[str, Reply]] | None = None
        self.pause = NO_PAUSE
        """The last pause before another try; setting it ends it."""
        self.tries = 0
        self.copies = 0
        """Number of requests that were sent, to any server."""
        self.leg = 0
        """Number of referrals. A group that refers the call carries out no further copy of that leg (safety rule 25)."""
        self.answered: tuple[str, Reply] | None = None
        """An answer that arrived after the reply to the last question, such as the answer that follows `Checked`."""
        self.check = False
        self.led = False
        """The last refusal named another server, which is asked at once; this does not happen twice in a row."""
        self.resolved_ns = 0
        """Time when the path was found to end at a file of another group; 0 when it was not."""
        self.resolved_at: dict[int, int] = {}
        """`resolved_ns` at the last request to each group. A group that was asked before may still answer."""
        self.ended = (0, 0)
        """Number of an inode on the path that its own group reported to have ended, and the incarnation of that group; zeros for none."""
        self.reported = False

    def reply(self, peer: str, message: Reply) -> None:
        """Takes the first reply to the open question. After it only an answer counts."""
        if self.waiting is not None and not self.waiting.done():
            self.waiting.set_result((peer, message))
        elif isinstance(message, Answer):
            self.answered = (peer, message)

    def overtaken(self, peer: str, message: Reply) -> bool:
        """Whether this reply is late: a referral of an earlier leg, or a refusal by an earlier server that names no server but the present one."""
        if isinstance(message, Referred):
            return message.leg != self.leg
        return isinstance(message, Refused) and peer != self.server and message.active in ("", self.server)


def called(session: str, pending: PendingCall, answer: Answer | None, now_ns: int) -> Called:
    """The call as the application saw it; without an answer its outcome is unknown."""
    result, error, epoch, sn, place, at_ns = None, "ETIMEDOUT", 0, 0, 0, 0
    if answer is not None:
        result, error = answer.result, answer.error.partition(":")[0]
        epoch, sn, place, at_ns = answer.epoch, answer.sn, answer.place, answer.at_ns
    return Called(
        session, pending.number, pending.operation, pending.began_ns, now_ns, result, error, pending.server, epoch, sn, place,
        pending.tries, at_ns, pending.resolved_ns,
    )  # fmt: skip
