"""What somebody may ask a metadata server over the way that no fault touches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.metadata.pages import page_of
from nodes.protocols.mams.log import decode_group, named_fields
from nodes.protocols.mams.replica import Replica


def answer_questions(replica: Replica, others: dict[str, Callable[[dict[str, Any]], Any]]) -> None:
    """`group`: a journal group as it lies on this server's disk; `tree`: a page of its namespace; and the others."""
    answer = getattr(replica.world, "answer", None)
    if answer is not None:
        answer("group", lambda question: tell_group(replica, int(question["sn"])))
        for word, step in others.items():
            answer(word, step)
        answer("tree", lambda question: page_of(replica.state.namespace, question))


def tell_group(replica: Replica, sn: int) -> dict[str, Any]:
    for octets in replica.log.octets(sn, sn):
        return {"group": named_fields(decode_group(octets))}
    return {"group": None}
