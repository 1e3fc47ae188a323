"""Events about committed records, and about those that belong to operations on several groups."""

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
    call_of,
    result_sum_of,
)
from nodes.trace.events import Committed, SharedStep
from nodes.wire.messages import JournalGroup
from nodes.world import Trace

AT_COORDINATOR: dict[type, str] = {BeginRecord: "begin", DecideRecord: "decide", EndRecord: "end"}
AT_PARTICIPANT: dict[type, str] = {
    VoteRecord: "vote",
    PromiseRecord: "promise",
    OutcomeRecord: "outcome",
    FinishRecord: "finish",
}


def shared_step(group: str, number: int, record: Record) -> SharedStep | None:
    """The event of a committed record of the group of this name and number; None for a record of another kind."""
    commit = getattr(record, "commit", True)
    step = AT_COORDINATOR.get(type(record))
    if step is not None:
        peers = sorted(record.peers) if isinstance(record, BeginRecord) else []
        return SharedStep(group, number, record.seq, step, commit, peers)  # type: ignore[union-attr]
    step = AT_PARTICIPANT.get(type(record))
    if step is not None:
        return SharedStep(group, record.group, record.seq, step, commit, [])  # type: ignore[union-attr, arg-type]
    return None


class CommitEmitter:
    """Emits one tenure's commits, for checkers, drawings and counters."""

    def __init__(self, trace: Trace, group: str, number: int, several: bool):
        """`several`: in a cluster of several groups, events also state what was committed when, and for which other groups."""
        self._trace = trace
        self._group = group
        self._number = number
        self._several = several

    def emit(
        self, entry: JournalGroup, epoch: int, crc: int, holders: list[str], configuration_number: int
    ) -> None:
        """Reports a group of the journal, or a slot, that can no longer be lost. `crc` is that of its mark."""
        records = entry.records
        operations = [call_of(record) for record in records]
        stamps = [record.at_ns for record in records] if self._several else []
        results = [result_sum_of(record) for record in records]
        self._trace.emit(
            Committed(
                self._group, entry.sn, epoch, crc, holders, configuration_number, operations, stamps, results
            )
        )
        for record in records if self._several else ():
            shared = shared_step(self._group, self._number, record)
            if shared is not None:
                self._trace.emit(shared)
