"""Queries to a metadata server over the control connection, which no fault touches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, Protocol

from nodes.metadata.pages import page_of
from nodes.replicas.log import named_fields
from nodes.replicas.state import ReplicatedState
from nodes.slots import GroupLog
from nodes.trace.events import Commanded
from nodes.trace.present import Cause
from nodes.world import Trace, World

Step = Callable[[dict[str, Any]], Any]
COMMANDS = frozenset(
    (
        "mark_checkpoint",
        "recover",
        "delete_checkpoint",
        "hand_over",
        "remove",
        "force",
        "take_image",
        "check_pool",
        "change_view",
    )
)
"""Questions that change something."""
ABOUT_MOST = 100


class Asked(Protocol):
    """The part of a server that these queries need."""

    world: World
    state: ReplicatedState

    @property
    def log(self) -> GroupLog: ...


def answer_questions(server: Asked, others: dict[str, Callable[[dict[str, Any]], Any]]) -> None:
    """Registers the queries: `group`, a journal group on this server's disk; `tree`, a page of its namespace; and the others."""
    answer = server.world.answer
    answer("group", lambda question: report_group(server.log, int(question["sn"])))
    for word, step in others.items():
        answer(word, commanded(server.world.trace, word, step) if word in COMMANDS else step)
    answer("tree", lambda question: page_of(server.state.namespace, question))


def commanded(trace: Trace, command: str, step: Step) -> Step:
    """The step, whose effects follow from an event of the command."""

    def carry_out(question: dict[str, Any]) -> Any:
        present = trace.at()
        trace.emit(Commanded(command, str(question.get("name") or question.get("server") or "")[:ABOUT_MOST]))
        cause = trace.at()
        answered = step(question)
        trace.follows(present)
        return following(cause, answered) if isawaitable(answered) else answered

    async def following(cause: Cause, answer: Awaitable[Any]) -> Any:
        trace.follows(cause)
        return await answer

    return carry_out


def report_group(log: GroupLog, sn: int) -> dict[str, Any]:
    group = log.group_at(sn)
    return {"group": None if group is None else named_fields(group)}
