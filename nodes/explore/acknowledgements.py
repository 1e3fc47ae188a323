"""Acknowledged content, and whether a recovery of the cluster has kept it."""

from __future__ import annotations

from nodes.explore.content import ContentRecord
from nodes.invariants.calls import as_travelled, tag_of
from nodes.invariants.registry import InvariantChecks
from nodes.trace.events import Called, Stamped


class Acknowledged:
    """Follows the calls that end the writing of a file. They are behind all its blocks in the journal."""

    def __init__(self, invariants: InvariantChecks):
        self._invariants = invariants
        self._ends: dict[tuple[str, ContentRecord], tuple[str, int]] = {}
        """By client and place: session and number of the answered call."""

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is Called and not event.error and tag_of(event.operation) == "Complete":
            place = ContentRecord(*as_travelled(event.operation)[1:3])
            self._ends[stamped.server, place] = event.client, event.number

    def is_kept(self, client: str, place: ContentRecord) -> bool:
        """Whether every recovery since has kept the record at this place of the client: it was written before the barrier, or after the recovery."""
        if not self._invariants.went_back:
            return True
        end = self._ends.get((client, place))
        return end is not None and self._invariants.is_kept(*end)
