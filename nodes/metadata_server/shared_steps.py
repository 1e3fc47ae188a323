"""What the events say of records that belong to operations on several groups."""

from __future__ import annotations

from nodes.metadata.records import (
    BeginRecord,
    DecideRecord,
    EndRecord,
    FinishRecord,
    OutcomeRecord,
    PromiseRecord,
    Record,
    VoteRecord,
)
from nodes.trace.events import SharedStep

AT_COORDINATOR: dict[type, str] = {BeginRecord: "begin", DecideRecord: "decide", EndRecord: "end"}
AT_PARTICIPANT: dict[type, str] = {
    VoteRecord: "vote",
    PromiseRecord: "promise",
    OutcomeRecord: "outcome",
    FinishRecord: "finish",
}


def shared_step(group: str, number: int, record: Record) -> SharedStep | None:
    """The event of a record that was committed by the group of this name and number; None for one of another kind."""
    commit = getattr(record, "commit", True)
    step = AT_COORDINATOR.get(type(record))
    if step is not None:
        peers = sorted(record.peers) if isinstance(record, BeginRecord) else []
        return SharedStep(group, number, record.seq, step, commit, peers)  # type: ignore[union-attr]
    step = AT_PARTICIPANT.get(type(record))
    if step is not None:
        return SharedStep(group, record.group, record.seq, step, commit, [])  # type: ignore[union-attr, arg-type]
    return None
