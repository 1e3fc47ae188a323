"""Many seeds: a workload under random faults, then everything mended, then what must hold."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from nodes.config import MILLISECOND, SECOND, ClusterConfig, WorkloadConfig
from nodes.families import family_named
from nodes.invariants import registry
from nodes.sim.cluster import SimCluster
from nodes.sim.ensemble import COORDINATION
from nodes.sim.faults import FaultUnsupported
from nodes.sim.loop import Stuck
from nodes.trace.events import CheckFailed

SETTLE_NS = 120 * SECOND
READER = "client2"
LINK_VERBS = ("cut", "delay", "lose", "duplicate", "reorder")


class Planned(msgspec.Struct, frozen=True):
    """A fault and when its cause is taken away again; `for_ns` is 0 for a fault without duration."""

    at_ns: int
    verb: str
    """Of the fabric, or `exile`: cut off from everybody but the reader."""
    targets: list[str]
    options: dict[str, Any] = {}
    for_ns: int = 0


class Outcome(msgspec.Struct):
    """One seed's run: `failures` and `trouble` are empty when all went well."""

    seed: int
    plan: list[Planned]
    failures: list[CheckFailed]
    failed_calls: int
    calls: int
    trouble: str = ""

    @property
    def clean(self) -> bool:
        return not self.failures and not self.failed_calls and not self.trouble


def random_plan(seed: int, config: ClusterConfig, span_ns: int, count: int) -> list[Planned]:
    """Faults in order of time, all of them over before the span is."""
    rng = random.Random(f"{seed}/plan")
    names = [name for group in config.groups for name in group.members] + config.journal.nodes
    plan = [_planned(rng, config, names, span_ns) for _ in range(count)]
    return sorted(plan, key=lambda planned: planned.at_ns)


def _planned(rng: random.Random, config: ClusterConfig, names: list[str], span_ns: int) -> Planned:
    at_ns = rng.randrange(SECOND, span_ns)
    session_ns = config.timing.session_timeout_ms * MILLISECOND
    for_ns = rng.choice((session_ns // 5, session_ns, 2 * session_ns)) + rng.randrange(SECOND)
    server = rng.choice(names)
    verb = rng.choice(
        ("crash", "crash", "power_loss", "pause", "pause", "take_lock", "expire_session", "cut", "cut", "island",
         "exile", "lose", "deaf", "delay", "duplicate", "reorder", "slow_disk")
    )  # fmt: skip
    if verb == "take_lock":
        taken = verb if family_named(config.protocol).locked else "force_view"
        return Planned(at_ns, taken, [rng.choice(config.groups).name])
    if verb == "expire_session":
        return Planned(at_ns, verb, [server])
    if verb == "slow_disk":
        return Planned(at_ns, verb, [server], {"ms": rng.choice((20, 200, 700))}, for_ns)
    if verb == "island":
        return Planned(at_ns, "cut", [server], {}, for_ns)
    if verb == "exile":
        return Planned(at_ns, verb, [server], {}, for_ns)
    if verb == "deaf":
        return Planned(at_ns, "lose", [server], {"share": rng.choice((0.5, 1.0))}, for_ns)
    if verb in LINK_VERBS:
        other = rng.choice([name for name in [*names, COORDINATION] if name != server])
        options: dict[str, Any] = {"direction": rng.choice(("both", "to", "from"))}
        if verb == "delay":
            options["ms"] = rng.choice((5, 50, 600))
        elif verb != "cut":
            options["share"] = rng.choice((0.05, 0.3))
        return Planned(at_ns, verb, [server, other], options, for_ns)
    return Planned(at_ns, verb, [server], {}, for_ns)


class Explorer:
    """Runs plans on fresh clusters."""

    def __init__(
        self,
        config: ClusterConfig,
        workload: WorkloadConfig,
        span_ns: int = 20 * SECOND,
        reader: WorkloadConfig | None = None,
    ):
        self.config = config
        self.reader = reader
        """What a second session does meanwhile."""
        self.workload = workload
        self.span_ns = span_ns

    def run(self, seed: int, plan: list[Planned]) -> tuple[Outcome, SimCluster]:
        """The plan, then a time without faults until every server is in step again."""
        cluster = SimCluster(self.config, seed, self.workload)
        lamps = registry.start(self.config)
        cluster.on_event(lamps.on_event)
        if self.reader is not None:
            cluster.add_workload(self.reader, READER)
        trouble = ""
        try:
            cluster.run_until(cluster.settled, SETTLE_NS)
            self._break(cluster, plan)
            self._mend(cluster)
            cluster.run_until(cluster.settled, SETTLE_NS)
            self._go_on(cluster)
        except Stuck as stuck:
            trouble = f"{stuck}: the view is {' '.join(cluster.view().values())}"
        lamps.finish()
        counts = cluster.workload.counts() if cluster.workload else {}
        failed = counts.get("ETIMEDOUT", 0) + counts.get("ESTALE", 0)
        return Outcome(
            seed, plan, lamps.failures + lamps.unjudged, failed, sum(counts.values()), trouble
        ), cluster

    def _go_on(self, cluster: SimCluster) -> None:
        """Work goes on after everything is mended. Raises Stuck."""
        assert cluster.workload is not None
        goal = sum(cluster.workload.counts().values()) + self.workload.clients * 3
        counts = cluster.workload.counts
        cluster.run_until(lambda: sum(counts().values()) >= goal, SETTLE_NS)

    def _break(self, cluster: SimCluster, plan: list[Planned]) -> None:
        steps = [(planned.at_ns, 0, planned) for planned in plan]
        steps += [(planned.at_ns + planned.for_ns, 1, planned) for planned in plan if planned.for_ns]
        start_ns = cluster.now_ns
        for at_ns, over, planned in sorted(steps, key=lambda step: step[:2]):
            cluster.run_until(start_ns + at_ns)
            try:
                if over:
                    undo(cluster, planned)
                else:
                    begin(cluster, planned)
            except FaultUnsupported:
                continue

    def _mend(self, cluster: SimCluster) -> None:
        cluster.faults.heal_all()
        for name, server in cluster.servers.items():
            server.store.mend()
            if server.gone:
                continue
            if server.process == "paused":
                cluster.faults.resume(name)
            elif server.process == "stopped":
                cluster.faults.restart(name)

    def seeds(self, seeds: Iterable[int], faults: int = 3) -> Iterator[Outcome]:
        """A random plan for each seed."""
        for seed in seeds:
            yield self.run(seed, random_plan(seed, self.config, self.span_ns, faults))[0]


def begin(cluster: SimCluster, planned: Planned) -> None:
    """Raises FaultUnsupported."""
    if planned.verb != "exile":
        cluster.faults.do(planned.verb, planned.targets, planned.options)
        return
    [server] = planned.targets
    for other in [*cluster.servers, COORDINATION]:
        if other not in (server, READER):
            cluster.faults.cut(server, other)


def undo(cluster: SimCluster, planned: Planned) -> None:
    """Takes the cause of a fault away. Raises FaultUnsupported when something else did."""
    target = planned.targets[0]
    if planned.verb in ("crash", "power_loss"):
        cluster.faults.restart(target)
    elif planned.verb == "pause":
        cluster.faults.resume(target)
    elif planned.verb == "slow_disk":
        cluster.faults.slow_disk(target, ms=0)
    elif planned.verb in (*LINK_VERBS, "exile"):
        cluster.faults.heal(*planned.targets)


def shortest(explorer: Explorer, seed: int, plan: list[Planned]) -> list[Planned]:
    """The plan without the faults that its failure does not need."""
    place = 0
    while place < len(plan):
        without = plan[:place] + plan[place + 1 :]
        if explorer.run(seed, without)[0].clean:
            place += 1
        else:
            plan = without
    return plan
