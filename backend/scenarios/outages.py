"""Service as the users of a run saw it: calls, failures, and the longest time without a success."""

from __future__ import annotations

from nodes.trace.block_events import FileCalled
from nodes.trace.events import Called, Stamped

NOT_A_FAILURE = ("", "ENOENT", "EEXIST", "ENOTDIR", "EISDIR", "ENOTEMPTY")
"""Results that are no failures: success, and correct refusals of the file system."""


class Outages:
    """Reducer of events; a moment counts as served when an awaited call returned."""

    def __init__(self) -> None:
        self.calls = 0
        self.failed = 0
        self.failures: list[str] = []
        self.longest_ns = 0
        self.latencies_ns: list[int] = []
        self._last_ns = 0

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is FileCalled:
            self.calls += 1
            if event.error not in NOT_A_FAILURE:
                self._fail(f"{event.verb} {event.path} of {event.client}: {event.error}")
            return
        if type(event) is not Called:
            return
        self.calls += 1
        if event.error not in NOT_A_FAILURE:
            self._fail(f"call {event.number} of {event.client}: {event.error}")
            return
        waited_from = max(self._last_ns, event.invoked_ns)
        self.longest_ns = max(self.longest_ns, event.returned_ns - waited_from)
        self._last_ns = max(self._last_ns, event.returned_ns)
        self.latencies_ns.append(event.returned_ns - event.invoked_ns)

    def _fail(self, line: str) -> None:
        self.failed += 1
        if len(self.failures) < 10:
            self.failures.append(line)
