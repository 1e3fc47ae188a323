"""one active: one server answers in an epoch, no client accepts an older epoch than before (nodes/invariants/README.md)."""

from __future__ import annotations

from nodes.invariants.calls import WRITES, tag_of
from nodes.invariants.checker import PATIENCE_NS, Check, place_in_trace
from nodes.trace.events import Called, Committed, Serving, Stamped

CLIENTS_KEPT = 10_000


class OneActive(Check):
    name = "one active"
    meaning = "at most one server answers in one epoch; no client accepts an older epoch than it has seen"
    counts = "answers to clients, and starts of service"

    def __init__(self, reads_anywhere: bool = False) -> None:
        super().__init__()
        self._reads_anywhere = reads_anywhere
        """A server that does not lead may answer a read."""
        self.steps = {
            Serving: self._on_serving,
            Committed: self._on_committed,
            Called: self._on_called,
        }
        self._owners: dict[int, tuple[str, int]] = {}
        """Epoch to the server that serves it and the event that reports this."""
        self._waiting: dict[tuple[int, str], Stamped] = {}
        """The first answer of a server in an epoch whose serving server is not known."""
        self._seen: dict[str, tuple[int, tuple[str, int]]] = {}
        """Client to the newest epoch it has accepted."""
        self._as_before = ("", "", 0)
        """Client, server and epoch of the last correct answer."""

    def _on_serving(self, stamped: Stamped, event: Serving) -> None:
        self._own(stamped, event.epoch, "serves")
        self.checked += 1

    def _on_committed(self, stamped: Stamped, event: Committed) -> None:
        owner = self._owners.get(event.epoch)
        if owner is None or owner[0] != stamped.server:
            self._own(stamped, event.epoch, f"commits group {event.sn}")

    def _own(self, stamped: Stamped, epoch: int, deed: str) -> None:
        owner = self._owners.setdefault(epoch, place_in_trace(stamped))
        if owner[0] != stamped.server:
            self.fail(
                f"{stamped.server} {deed} in epoch {epoch}, which is {owner[0]}'s",
                owner,
                place_in_trace(stamped),
            )
        for key in [key for key in self._waiting if key[0] == epoch]:
            self._compare(self._waiting.pop(key))

    def _on_called(self, stamped: Stamped, event: Called) -> None:
        epoch = event.epoch
        if (event.client, event.server, epoch) == self._as_before:
            self.checked += 1
            return
        if not epoch:
            return
        seen = self._seen.get(event.client)
        if seen is None or epoch > seen[0]:
            self._seen[event.client] = (epoch, (stamped.server, stamped.number))
            if len(self._seen) > CLIENTS_KEPT:
                del self._seen[next(iter(self._seen))]
        elif epoch < seen[0]:
            self._older(stamped, event, *seen)
        if self._reads_anywhere and tag_of(event.operation) not in WRITES:
            self.checked += 1
            return
        owner = self._owners.get(epoch)
        if owner is None:
            self._waiting.setdefault((epoch, event.server), stamped)
        elif owner[0] == event.server and self._seen[event.client][0] == epoch:
            self._as_before = (event.client, event.server, epoch)
            self.checked += 1
        else:
            self._compare(stamped)

    def _older(self, stamped: Stamped, event: Called, epoch: int, evidence: tuple[str, int]) -> None:
        self.fail(
            f"client {event.client} accepted call {event.number} from {event.server} in epoch {event.epoch} "
            f"after it had seen epoch {epoch}",
            evidence,
            place_in_trace(stamped),
        )

    def _compare(self, stamped: Stamped) -> None:
        event: Called = stamped.event  # type: ignore[assignment]
        owner = self._owners[event.epoch]
        if owner[0] == event.server:
            self.checked += 1
            return
        self.fail(
            f"{event.server} answered call {event.number} of {event.client} in epoch {event.epoch}, "
            f"which is {owner[0]}'s",
            owner,
            place_in_trace(stamped),
        )

    def on_time(self, now_ns: int) -> None:
        late = [key for key, each in self._waiting.items() if now_ns - each.at_ns > PATIENCE_NS]
        for key in late:
            self._nobody(self._waiting.pop(key))

    def _nobody(self, stamped: Stamped) -> None:
        """No server is known to serve. In the oldest epoch the check may have begun too late, and the answer shows the server."""
        event: Called = stamped.event  # type: ignore[assignment]
        if not any(epoch < event.epoch for epoch in self._owners):
            self._owners[event.epoch] = (event.server, stamped.number)
            return
        self.fail(
            f"{event.server} answered call {event.number} of {event.client} in epoch {event.epoch}, "
            "which no server serves",
            place_in_trace(stamped),
        )

    def finish(self) -> None:
        for stamped in self._waiting.values():
            self._nobody(stamped)
        self._waiting.clear()
