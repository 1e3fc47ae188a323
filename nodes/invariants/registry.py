"""The lamps: all checks over one stream of events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.config import ClusterConfig
from nodes.invariants.blocks_kept import BlocksKept
from nodes.invariants.checker import SECOND, Check
from nodes.invariants.dense_journal import DenseJournal
from nodes.invariants.exactly_once import ExactlyOnce
from nodes.invariants.journals import Journals
from nodes.invariants.linearisable import Linearisable
from nodes.invariants.no_lost_write import NoLostWrite
from nodes.invariants.one_active import OneActive
from nodes.invariants.same_state import SameState
from nodes.trace.events import CheckFailed, Event, Stamped

Step = Callable[[Stamped, Any], None]

ALL: tuple[type[Check], ...] = (
    OneActive,
    NoLostWrite,
    ExactlyOnce,
    SameState,
    DenseJournal,
    Linearisable,
)
"""In the order of the page. With data nodes comes `BlocksKept`."""


class Lamps:
    """Live verdicts on one replica group: give it every event, in each server's own order."""

    def __init__(self, cluster: ClusterConfig) -> None:
        journals = Journals()
        dense = DenseJournal(journals)
        self._checks: list[Check] = [
            OneActive(),
            NoLostWrite(journals),
            ExactlyOnce(journals),
            SameState(),
            dense,
            Linearisable(journals),
        ]
        if cluster.data.nodes:
            self._checks.append(BlocksKept())
        self._steps: dict[type[Event], list[Step]] = {}
        others = [check.steps for check in self._checks if check is not dense]
        for table in (dense.steps, journals.steps, *others):
            for kind, step in table.items():
                self._steps.setdefault(kind, []).append(step)
        self._look_ns = 0

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        for step in self._steps.get(type(event), ()):
            step(stamped, event)
        if stamped.at_ns > self._look_ns:
            self._look_ns = stamped.at_ns + SECOND
            for check in self._checks:
                check.on_time(stamped.at_ns)

    def finish(self) -> None:
        """No more events come. What still waits for its counterpart fails."""
        for check in self._checks:
            check.finish()

    @property
    def failures(self) -> list[CheckFailed]:
        """All that was found wrong, by check."""
        return [failure for check in self._checks for failure in check.failures]

    def lamps(self) -> list[dict[str, Any]]:
        """One row for each invariant: grey when nothing could be checked, red with the first failure."""
        return [_lamp(check) for check in self._checks]


def _lamp(check: Check) -> dict[str, Any]:
    first = check.failures[0] if check.failures else None
    if first is not None:
        state, explanation = "red", first.explanation
    elif check.unable:
        state, explanation = "grey", check.unable
    else:
        state, explanation = ("green", "") if check.checked else ("grey", "nothing has been checked yet")
    return {
        "invariant": check.name,
        "meaning": check.meaning,
        "state": state,
        "checked": check.checked,
        "explanation": explanation,
        "evidence": [list(each) for each in first.evidence] if first is not None else [],
    }


def start(cluster: ClusterConfig) -> Lamps:
    return Lamps(cluster)
