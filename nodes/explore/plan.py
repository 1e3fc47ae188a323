"""A trial as data: everything that a seed draws, and all that is needed to run it again to the same event log."""

from __future__ import annotations

from typing import Any

import msgspec

from nodes.config import ClusterConfig
from nodes.explore.calls import Caller as Caller
from nodes.explore.calls import Milliseconds
from nodes.sim.conditions import Conditions
from nodes.sim.triggers import Trigger

WHOEVER = "whoever of "
"""Begins the word for the member of a group that comes first to the place that a fault is tied to."""
FIRST = "first "
"""Begins a role as of the moment at which the load begins: `first active of g1` is the same server all through a trial."""


class Fault(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """One fault. Times count from the beginning of the load."""

    verb: str
    """Of the fabric (docs/faults.md), or `heal`, `mark`, `recover` of a checkpoint."""
    targets: list[str] = []
    """Names, or roles as of that moment: `active of g1`, `standby of g1`, `standby 2 of g1`; `first active of g1`: as of the beginning of the load;
    `whoever of g1`: who came to the place `on`."""
    options: dict[str, Any] = {}
    at_ms: Milliseconds = 0
    on: Trigger | None = None
    """A place in a server's progress, counted from `at_ms` on; the server may be named by a role as of then, and `whoever of g1` is the
    member that comes there first."""
    for_ms: Milliseconds = 0
    """Taken back after this time; 0: it stays until the end."""


class Plan(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """A trial: a cluster in its conditions, clients, faults. The rest follows from `seed`."""

    seed: int
    cluster: ClusterConfig
    conditions: Conditions = Conditions()
    callers: list[Caller] = []
    faults: list[Fault] = []
    span_ms: Milliseconds = 10_000
    """The load and its faults last so long; then the audit begins."""

    @property
    def calls(self) -> int:
        return sum(len(caller.calls) for caller in self.callers)


class Failure(msgspec.Struct, frozen=True):
    """One thing that is wrong: which invariant, where it was noticed (what failures are grouped by), and in words."""

    invariant: str
    place: str
    explanation: str
    story: list[str] = []
    """What led to it, one line for each step (nodes/trace/story.py)."""


class Outcome(msgspec.Struct):
    """What came of a plan."""

    plan: Plan
    failures: list[Failure] = []
    beyond: str = ""
    """Why more was damaged than the family promises to survive: only safety was judged. Empty when it was not."""
    calls: int = 0
    answered: int = 0
    checked: int = 0
    """Facts that the invariants found to be right."""
    virtual_ns: int = 0
    skipped: int = 0
    """Faults that were impossible where or when they were to happen."""
    coverage: frozenset[str] = frozenset()
    log_sha256: str = ""
    """Of the event log; the same on every machine. Empty for a trial on processes, which no run repeats."""

    @property
    def clean(self) -> bool:
        return not self.failures
