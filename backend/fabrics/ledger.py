"""The faults in force: numbered, emitted as events, and ended by the verbs that undo them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from backend.fabrics.links import LinkFault
from nodes.faults.table import lasts
from nodes.trace.base import Event
from nodes.trace.events import FaultEnded, FaultInjected


class Standing(msgspec.Struct):
    """A fault in force."""

    fault: int
    verb: str
    targets: list[str]
    links: list[LinkFault] = []
    options: dict[str, Any] = {}


class FaultLedger:
    """Record of the faults in force; `report` receives each FaultInjected and FaultEnded."""

    def __init__(self, report: Callable[[Event], None]):
        self._report = report
        self._last = 0
        self.standing: dict[int, Standing] = {}

    def begin(
        self, verb: str, targets: list[str], options: dict[str, Any], links: list[LinkFault] | None = None
    ) -> int:
        self._last += 1
        self._report(FaultInjected(self._last, verb, targets, options))
        if lasts(verb):
            self.standing[self._last] = Standing(self._last, verb, targets, links or [], options)
        return self._last

    def end_of(self, server: str, *verbs: str) -> int:
        """Ends the faults of these verbs at a server; returns the newest one's number, 0 without any."""
        ended = [each for each in self.standing.values() if each.verb in verbs and server in each.targets]
        for each in ended:
            self._end(each)
        return max((each.fault for each in ended), default=0)

    def options_of(self, server: str, verb: str) -> dict[str, Any] | None:
        """Options of the newest fault of this verb in force at a server; None without one."""
        found = [each for each in self.standing.values() if each.verb == verb and server in each.targets]
        return found[-1].options if found else None

    def heal(self, a: str | None, b: str | None) -> int:
        """Ends the faults on the link a, b, or on all links of a, or all link faults; returns the newest one's number, 0 without any."""
        newest = 0
        for each in list(self.standing.values()):
            left = [link for link in each.links if not link.touches(a, b)]
            if len(left) < len(each.links):
                newest = max(newest, each.fault)
                each.links = left
                if not left:
                    self._end(each)
        return newest

    def links(self) -> list[LinkFault]:
        return [link for each in self.standing.values() for link in each.links]

    def _end(self, each: Standing) -> None:
        del self.standing[each.fault]
        self._report(FaultEnded(each.fault, each.verb, each.targets))
