"""`saa-7.3`: members join, leave, lose their cable and are killed, one and several at once, while clients update (SAA §7.3). In virtual time."""

from __future__ import annotations

from collections import Counter

import msgspec

from benchmarks._model import Chart, Experiment, ExperimentOutcome, Point
from benchmarks.experiments.gaps import ORDINARY, beyond_ns, proposed_ns
from nodes.config import MILLISECOND, SECOND, WorkloadConfig, one_group
from nodes.invariants import registry
from nodes.sim.cluster import SimCluster
from nodes.trace.events import Applied, Called, Serving, Stamped

APART_NS = 400 * MILLISECOND
"""Time under load before each change, and after it has taken effect."""
BUCKET_NS = 100 * MILLISECOND
SEEDS = (1, 2, 3, 4, 5, 6)
WORKLOAD = WorkloadConfig(
    clients=8, rate_per_s=100, mix={"create": 4, "mkdir": 1, "rename": 2, "delete": 1, "set_permission": 1, "stat": 2}
)  # fmt: skip
PAPER = {"failed_calls": 0.0, "broken_checks": 0.0, "different_states": 0.0}


class Change(msgspec.Struct, frozen=True):
    name: str
    verb: str
    """A verb of the simulator's faults."""
    count: int
    mend: str = ""
    """The verb that brings the members back; empty for a join."""


CHANGES = (
    Change("one_joins", "restart", 1),
    Change("two_join", "restart", 2),
    Change("one_leaves", "stop", 1, "restart"),
    Change("one_cable", "cut", 1, "heal"),
    Change("one_killed", "crash", 1, "restart"),
    Change("two_cables", "cut", 2, "heal"),
    Change("three_killed", "crash", 3, "restart"),
)
"""The group has one member under load, and grows to four: the largest view of which a single member continues."""
ALONE = ("one_cable", "one_killed")
"""Failures that the others have to detect; joins and leaves are announced."""


MEMBERS = 1 + sum(change.count for change in CHANGES if not change.mend)


class Life:
    """One cluster through all changes. Clients know the names of all servers; those that join later have never served: their disks are new."""

    def __init__(self, seed: int):
        self._config = one_group(MEMBERS - 1, protocol="symmetric")
        self.cluster = SimCluster(self._config, seed)
        self.checks = registry.start(self._config)
        self._newest = Serving("", 0, 0, 0)
        self._answered = 0
        self.cluster.on_event(self.checks.on_event)
        self.cluster.on_event(self._on_event)
        self.cluster.run_until(self.cluster.settled)
        first, *others = self._names = self._config.groups[0].members
        for name in others:
            self.cluster.faults.stop(name)
            self.cluster.run_for(APART_NS)
            self.cluster.faults.new_disk(name)
        self.cluster.run_until(lambda: self._members() == [first])
        self.cluster.add_workload(WORKLOAD)
        self.cluster.run_until(lambda: self._answered > WORKLOAD.clients)
        self.cluster.run_for(APART_NS + 7 * seed * MILLISECOND)
        self.began_ns = self.cluster.now_ns
        self.waits_ms: dict[str, float] = {}
        """By change, the longest that any call took meanwhile."""
        self.gaps_ms: list[float] = []
        """For each failure of one member, the longest that any call waited beyond its detection."""

    def run(self) -> None:
        for change in CHANGES:
            self._do(change)
        assert self.cluster.workload is not None
        self.cluster.workload.throttle(paused=True)
        self.cluster.run_for(2 * SECOND)
        self.checks.finish()

    def _do(self, change: Change) -> None:
        began_ns, before = self.cluster.now_ns, self._members()
        if change.mend:
            victims = before[: change.count]
            self._all(change.verb, victims)
            self._await([name for name in before if name not in victims])
            self._note(change.name, began_ns)
            began_ns = self.cluster.now_ns
            self._all(change.mend, victims)
        else:
            joining = [name for name in self._names if name not in before][: change.count]
            self._all(change.verb, joining)
            before = [*before, *joining]
        self._await(before)
        self._note(f"{change.name}_back" if change.mend else change.name, began_ns)

    def _all(self, verb: str, targets: list[str]) -> None:
        for target in targets:
            self.cluster.faults.do(verb, [target])

    def _members(self) -> list[str]:
        """Members of the newest view."""
        return self._newest.members

    def _on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        self._answered += type(event) is Called
        if type(event) is Serving and event.epoch > self._newest.epoch:
            self._newest = event

    def _await(self, members: list[str]) -> None:
        """Runs until these servers are the view and have answered every caller, and for a while under it."""
        self.cluster.run_until(lambda: sorted(self._members()) == sorted(members), 60 * SECOND)
        wanted = self._answered + 2 * WORKLOAD.clients
        self.cluster.run_until(lambda: self._answered >= wanted, 60 * SECOND)
        self.cluster.run_for(APART_NS)

    def _note(self, key: str, began_ns: int) -> None:
        """Notes the waits since the change began, now that it has taken effect."""
        calls = [call for call in self.calls() if call.returned_ns > began_ns]
        self.waits_ms[key] = max(call.returned_ns - call.invoked_ns for call in calls) / MILLISECOND
        if key in ALONE:
            patience_ns = self._config.timing.client_timeout_ms * MILLISECOND
            known_ns = proposed_ns(self.cluster, began_ns)
            self.gaps_ms.append(max(beyond_ns(call, known_ns, patience_ns) for call in calls) / MILLISECOND)

    def calls(self) -> list[Called]:
        return [s.event for s in self.cluster.events if type(s.event) is Called]

    @property
    def failed(self) -> int:
        assert self.cluster.workload is not None
        return sum(
            number for error, number in self.cluster.workload.counts().items() if error not in ORDINARY
        )

    @property
    def states(self) -> int:
        """Number of different states of the members at the end."""
        newest = {
            s.server: (s.event.sn, s.event.digest) for s in self.cluster.events if type(s.event) is Applied
        }
        return len({newest[name] for name in self._members()})


def answered(life: Life) -> list[Point]:
    """Calls answered per second, by seconds since the first change."""
    counted = Counter((call.returned_ns - life.began_ns) // BUCKET_NS for call in life.calls())
    places = range(-APART_NS // BUCKET_NS, max(counted) - 1)
    return [(place * BUCKET_NS / SECOND, counted[place] * SECOND / BUCKET_NS) for place in places]


def run(quick: bool) -> ExperimentOutcome:
    lives = [Life(seed) for seed in (SEEDS[:1] if quick else SEEDS)]
    for life in lives:
        life.run()
    waits = {name: max(life.waits_ms[name] for life in lives) for name in lives[0].waits_ms}
    figures = {
        "symmetric_gap_ms": round(max(ms for life in lives for ms in life.gaps_ms), 1),
        **{f"wait_{name}_ms": round(ms, 1) for name, ms in waits.items()},
        "calls": float(sum(len(life.calls()) for life in lives)),
        "failed_calls": float(sum(life.failed for life in lives)),
        "broken_checks": float(sum(len(life.checks.failures) for life in lives)),
        "different_states": float(sum(life.states - 1 for life in lives)),
    }
    config = {
        "fabric": "simulated",
        "members": MEMBERS,
        "lives": len(lives),
        "callers": WORKLOAD.clients,
        "calls_per_s": WORKLOAD.rate_per_s,
    }
    chart = Chart(
        "Members join, leave and fail", "seconds since the first change", "calls answered per second", {"random updates": answered(lives[0])}
    )  # fmt: skip
    return ExperimentOutcome(config, figures, PAPER, chart, [NOTE])


NOTE = (
    "wait_CHANGE_ms: the longest that any call took while the members changed; it includes the lease of silent members, "
    "or the patience of a client (400 ms for each silent member that it asks). symmetric_gap_ms: for one silent member, "
    "the wait beyond the moment at which the others propose the next view, or beyond the client's patience. "
    "broken_checks: violated invariants, lost writes among them. "
    "The paper says: no interruption, no lost state, the same state at all members."
)

EXPERIMENTS = [
    Experiment("saa-7.3", "SAA §7.3", "members join, leave and fail, one and several at once, under random updates", run)
]  # fmt: skip
