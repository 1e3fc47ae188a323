"""A trial as data: everything that a seed draws, sufficient to run it again to the same event log."""

from __future__ import annotations

from typing import Any

import msgspec

from nodes.config import ClusterConfig, Seed
from nodes.explore.calls import Caller as Caller
from nodes.explore.calls import Milliseconds
from nodes.sim.conditions import Conditions
from nodes.sim.triggers import Trigger

WHOEVER = "whoever of "
"""Prefix for the member of a group that first comes to the place that a fault is tied to."""
FIRST = "first "
"""Prefix of a role at the beginning of the load: `first active of g1` is the same server all through a trial."""


class Fault(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """One fault. Times count from the beginning of the load."""

    verb: str
    """Verb of the fabric (docs/faults.md), or `heal`, `mark`, `recover` of a checkpoint."""
    targets: list[str] = []
    """Names, or roles at that moment: `active of g1`, `standby of g1`, `standby 2 of g1`. `first active of g1`: the role at the beginning of the
    load. `whoever of g1`: the server that came to the place `on`."""
    options: dict[str, Any] = {}
    at_ms: Milliseconds = 0
    on: Trigger | None = None
    """A place in a server's progress, counted from `at_ms` on. The server may be named by a role at that time, and `whoever of g1` is the member
    that comes there first."""
    for_ms: Milliseconds = 0
    """The fault ends after this time; 0: at the end of the trial."""


class Plan(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """A trial: a cluster in its conditions, clients, faults. Everything else follows from `seed`."""

    seed: Seed
    cluster: ClusterConfig
    conditions: Conditions = Conditions()
    callers: list[Caller] = []
    faults: list[Fault] = []
    span_ms: Milliseconds = 10_000
    """Duration of the load and its faults; then the audit begins."""
    unsettled_ms: Milliseconds | None = None
    """The load and its faults begin after this time, though the groups may have no leader yet; None: once the cluster is at rest."""

    @property
    def calls(self) -> int:
        return sum(len(caller.calls) for caller in self.callers)


class Failure(msgspec.Struct, frozen=True):
    """One failure: its invariant, the place where it was detected (by which failures are grouped), and a text."""

    invariant: str
    place: str
    explanation: str
    evidence: list[tuple[str, int]] = []
    """(server, event number) pairs that a check names as evidence."""
    story: list[str] = []
    """Causes of the failure, one line for each step (nodes/trace/story.py)."""


class PlanOutcome(msgspec.Struct):
    """The result of a plan."""

    plan: Plan
    failures: list[Failure] = []
    beyond: str = ""
    """The damage beyond the family's promise, in which case only safety was judged; empty when there was none."""
    calls: int = 0
    answered: int = 0
    checked: int = 0
    """Number of facts that the invariants found to be right."""
    virtual_ns: int = 0
    skipped: int = 0
    """Number of faults that were impossible at their place or time."""
    coverage: frozenset[str] = frozenset()
    log_sha256: str = ""
    """Hash of the event log, the same on every machine. Empty for a trial on processes, which no run repeats."""

    @property
    def clean(self) -> bool:
        return not self.failures
