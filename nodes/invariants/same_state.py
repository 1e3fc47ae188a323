"""same sn, same state: replicas that applied the same group have the same namespace (nodes/invariants/README.md)."""

from __future__ import annotations

from nodes.invariants.checker import Check, place_in_trace
from nodes.invariants.journals import KEPT
from nodes.trace.events import Applied, Stamped


class SameState(Check):
    name = "same sn same state"
    meaning = "two replicas that applied the same sn have the same namespace digest"
    counts = "digests of the namespace that two replicas reported for the same sn"

    def __init__(self) -> None:
        super().__init__()
        self.steps = {Applied: self._on_applied}
        self._digests: dict[tuple[int, int], tuple[int, str, int]] = {}

    def _on_applied(self, stamped: Stamped, event: Applied) -> None:
        key = (event.sn, event.epoch)
        first = self._digests.get(key)
        if first is None:
            self._digests[key] = (event.digest, stamped.server, stamped.number)
            if len(self._digests) > KEPT:
                del self._digests[next(iter(self._digests))]
        elif first[0] == event.digest:
            self.checked += 1
        else:
            self.fail(
                f"{stamped.server} and {first[1]} differ after group {event.sn} of epoch {event.epoch}: "
                f"digests {event.digest:016x} and {first[0]:016x}",
                first[1:],
                place_in_trace(stamped),
            )
