"""One call on its way: whom it was sent to, and how often it has been referred."""

from __future__ import annotations

import asyncio

from nodes.metadata.lookup import Start
from nodes.metadata.operations import Operation
from nodes.trace.events import Called
from nodes.wire.messages import Answer, Checked, Referred, Refused

Reply = Answer | Refused | Referred | Checked | None


class Course:
    """How far one call has come."""

    def __init__(self, number: int, operation: Operation, began_ns: int, group: int, moves: int):
        self.number = number
        self.operation = operation
        self.began_ns = began_ns
        self.group = group
        self.began_moves = self.moves = moves
        """Moves of directories that the client had heard of when the call began, and when `starts` were resolved."""
        self.starts: list[Start] = []
        self.server = ""
        """Who is asked."""
        self.waiting: asyncio.Future[tuple[str, Reply]] | None = None
        self.tries = 0
        self.copies = 0
        """Requests that were sent, wherever to."""
        self.leg = 0
        """How often it has been referred: a group that refers it carries no copy of that leg out any more (safety rule 25)."""
        self.answered: tuple[str, Reply] | None = None
        """An answer that came behind the reply to the last question: what follows `Checked` by itself."""
        self.check = False
        self.led = False
        """The last refusal named another server, which is asked at once; not twice in a row."""
        self.resolved_ns = 0
        """When the path was found to end at a file of another group; 0 when it was not."""
        self.resolved_at: dict[int, int] = {}
        """The same as of the last request to each group: one that was asked before may answer still."""
        self.told = False

    def reply(self, peer: str, message: Reply) -> None:
        """The first reply to the question that is out; of further ones only an answer counts."""
        if self.waiting is not None and not self.waiting.done():
            self.waiting.set_result((peer, message))
        elif isinstance(message, Answer):
            self.answered = (peer, message)

    def overtaken(self, peer: str, message: Reply) -> bool:
        """Whether this is a late referral of an earlier leg, or a late refusal by a server that was asked before and that names nobody but the one
        that is asked now."""
        if isinstance(message, Referred):
            return message.leg != self.leg
        return isinstance(message, Refused) and peer != self.server and message.active in ("", self.server)


def called(session: str, course: Course, answer: Answer | None, now_ns: int) -> Called:
    """A call as the application saw it; without an answer its outcome is unknown."""
    result, error, epoch, sn, place, at_ns = None, "ETIMEDOUT", 0, 0, 0, 0
    if answer is not None:
        result, error = answer.result, answer.error.partition(":")[0]
        epoch, sn, place, at_ns = answer.epoch, answer.sn, answer.place, answer.at_ns
    return Called(
        session, course.number, course.operation, course.began_ns, now_ns, result, error, course.server, epoch, sn, place,
        course.tries, at_ns, course.resolved_ns,
    )  # fmt: skip
