"""Queries to a metadata server over the control connection, which no fault touches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from nodes.metadata.pages import page_of
from nodes.replicas.log import named_fields
from nodes.replicas.state import ReplicatedState
from nodes.slots import GroupLog
from nodes.world import World


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
        answer(word, step)
    answer("tree", lambda question: page_of(server.state.namespace, question))


def report_group(log: GroupLog, sn: int) -> dict[str, Any]:
    group = log.group_at(sn)
    return {"group": None if group is None else named_fields(group)}
