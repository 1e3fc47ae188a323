"""exactly once, over the groups of a cluster: a call has its effect in one group only, and none if another group refused it (rule 25)."""

from __future__ import annotations

from typing import Any

from nodes.invariants.answers import STATELESS
from nodes.invariants.calls import UNKNOWN, WRITES, shown, tag_of
from nodes.invariants.checker import Check, place_in_trace
from nodes.trace.events import Called, Committed, Stamped

KEPT = 200_000

Key = tuple[str, int]


class OneEffect(Check):
    """Effects of a call in two groups. `ExactlyOnce` finds two effects in one group."""

    name = "exactly once"
    meaning = "an operation id has one effect and one result"
    counts = "operations with their answers"

    def __init__(self) -> None:
        super().__init__()
        self.steps = {Committed: self._on_committed, Called: self._on_called}
        self._effects: dict[Key, tuple[str, Stamped]] = {}
        """By call: the group, and the event of the first server that committed it."""
        self._refused: dict[Key, Stamped] = {}
        """Writes that were answered with an error."""

    def _on_committed(self, stamped: Stamped, event: Committed) -> None:
        for client, number in event.operations:
            if not client:
                continue
            key = (client, number)
            group, first = self._effects.setdefault(key, (event.group, stamped))
            if group != event.group:
                self.fail(
                    f"call {number} of {client} has two effects: in group {group} and in group {event.group}",
                    place_in_trace(first),
                    place_in_trace(stamped),
                )
            elif first is stamped:
                self.checked += 1
                self._compare(key)
        _forget_oldest(self._effects)

    def _on_called(self, stamped: Stamped, event: Called) -> None:
        if not event.error or event.error == UNKNOWN or event.error in STATELESS:
            return
        if tag_of(event.operation) in WRITES:
            self._refused[event.client, event.number] = stamped
            self._compare((event.client, event.number))
            _forget_oldest(self._refused)

    def _compare(self, key: Key) -> None:
        called, effect = self._refused.get(key), self._effects.get(key)
        if called is None or effect is None:
            return
        event: Called = called.event  # type: ignore[assignment]
        self.fail(
            f"call {event.number} of {event.client}, {shown(event.operation)}, was answered {event.error} by {event.server} "
            f"and yet has an effect in group {effect[0]}",
            place_in_trace(effect[1]),
            place_in_trace(called),
        )


def _forget_oldest(entries: dict[Key, Any]) -> None:
    while len(entries) > KEPT:
        del entries[next(iter(entries))]
