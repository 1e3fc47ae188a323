"""What somebody may ask a metadata server over the way that no fault touches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from nodes.metadata.pages import page_of
from nodes.replicas.log import ReplicaLog, decode_group, named_fields
from nodes.replicas.state import ReplicatedState
from nodes.world import World


class Asked(Protocol):
    """A server as far as it is asked about here."""

    world: World
    log: ReplicaLog
    state: ReplicatedState


def answer_questions(server: Asked, others: dict[str, Callable[[dict[str, Any]], Any]]) -> None:
    """`group`: a journal group as it lies on this server's disk; `tree`: a page of its namespace; and the others."""
    answer = getattr(server.world, "answer", None)
    if answer is not None:
        answer("group", lambda question: tell_group(server.log, int(question["sn"])))
        for word, step in others.items():
            answer(word, step)
        answer("tree", lambda question: page_of(server.state.namespace, question))


def tell_group(log: ReplicaLog, sn: int) -> dict[str, Any]:
    for octets in log.octets(sn, sn):
        return {"group": named_fields(decode_group(octets))}
    return {"group": None}
