"""Transaction control and basic metadata service (SAA §6, Fig. 4, 6): carries out the calls of the total order, the same at every member.

A call that fails changes nothing, and that it failed is remembered like a result: a second copy of it, asked of another member, must not
succeed later. Inode numbers, times and errors follow from the order alone.
"""

from __future__ import annotations

import msgspec

from nodes.errors import FsError
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import CloseSession, Result
from nodes.metadata.planning import DONE
from nodes.metadata.records import AlterRecord, AtimeRecord, CallRecord, Record
from nodes.units import OpId
from nodes.wire.messages import JournalGroup


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """What came of one call."""

    op_id: OpId
    result: Result | None
    error: str
    place: int
    """How many calls of its group have had an effect up to here."""


class Refusals:
    """Calls that failed, for as long as their clients may ask again."""

    def __init__(self) -> None:
        self._errors: dict[str, dict[int, str]] = {}
        self._lowest: dict[str, int] = {}

    def lowest_open(self, client: str) -> int:
        """Of the calls of a client that failed; what is below has been answered."""
        return self._lowest.get(client, 0)

    def recorded(self, op_id: OpId) -> str:
        return self._errors.get(op_id.client, {}).get(op_id.number, "")

    def remember(self, op_id: OpId, lowest_open: int, error: str) -> None:
        errors = self._errors.setdefault(op_id.client, {})
        errors[op_id.number] = error
        if lowest_open > self.lowest_open(op_id.client):
            self._lowest[op_id.client] = lowest_open
            for number in [number for number in errors if number < lowest_open]:
                del errors[number]

    def forget(self, client: str) -> None:
        self._errors.pop(client, None)
        self._lowest.pop(client, None)


class Execution:
    """The namespace of one member, up to the last group it has carried out."""

    def __init__(self, namespace: Namespace):
        self.namespace = namespace
        self.applied_sn = 0
        self.place = 0
        """How many calls of the last group had an effect."""
        self._refusals = Refusals()

    def carry_out(self, group: JournalGroup) -> tuple[list[Outcome], list[OpId]]:
        """What came of each call of the next group, and which of them had an effect, in order."""
        assert group.sn == self.applied_sn + 1, f"group {group.sn} after {self.applied_sn}"
        outcomes: list[Outcome] = []
        effects: list[OpId] = []
        for record in group.records:
            if isinstance(record, AtimeRecord):
                self._read_at(record)
            elif isinstance(record, CallRecord):
                result, error = self._call(record, effects)
                outcomes.append(Outcome(record.op_id, result, error, len(effects)))
        self.applied_sn, self.place = group.sn, len(effects)
        return outcomes, effects

    def _call(self, record: CallRecord, effects: list[OpId]) -> tuple[Result | None, str]:
        namespace, op_id = self.namespace, record.op_id
        recorded = namespace.sessions.recorded(op_id)
        if recorded is not None:
            return recorded, ""
        refused = self._refusals.recorded(op_id)
        if refused:
            return None, refused
        try:
            if op_id.number < self._refusals.lowest_open(op_id.client):
                raise FsError("ESTALE", f"call {op_id.number} of {op_id.client} was answered and forgotten")
            now_ns = max(record.at_ns, namespace.newest_ns + 1)
            plan: Record = namespace.plan(record.operation, op_id, record.lowest_open, now_ns)  # type: ignore[assignment]
        except FsError as error:
            if namespace.sessions.known(op_id.client):
                self._refusals.remember(op_id, record.lowest_open, str(error))
            return None, str(error)
        namespace.apply(plan)
        effects.append(op_id)
        if type(record.operation) is CloseSession:
            self._refusals.forget(op_id.client)
        return plan.result, ""  # type: ignore[union-attr]

    def _read_at(self, record: AtimeRecord) -> None:
        inode = self.namespace.tree.inodes.get(record.inode)
        if inode is not None and inode.atime_ns < record.at_ns:
            newest_ns = self.namespace.newest_ns
            self.namespace.apply(
                AlterRecord(OpId("", 0), 0, newest_ns, DONE, record.inode, atime_ns=record.at_ns)
            )
