"""`dcfs3-failover`: waiting time of clients when a server dies, beyond its detection. In virtual time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import msgspec

from benchmarks._model import Chart, Experiment, ExperimentOutcome
from nodes.config import MILLISECOND, SECOND, WorkloadConfig, one_group
from nodes.sim.cluster import SimCluster
from nodes.trace.events import Called, StepTaken

BEFORE_NS, AFTER_NS = 1 * SECOND, 3 * SECOND
"""Windows before the death and after its detection."""
BUCKET_NS = 50 * MILLISECOND
STANDBYS = 2
SEEDS = (1, 2, 3, 4, 5, 6)
ORDINARY = ("ok", "ENOENT")
"""Ordinary results: a call may ask for a file before it is created."""
WORKLOAD = WorkloadConfig(clients=8, rate_per_s=200, mix={"create": 5, "mkdir": 1, "stat": 4})
Detected = Callable[[SimCluster, str, int], bool]
"""Whether the cluster has detected that this server is dead, given the time of its death in nanoseconds."""


class Gap(msgspec.Struct, frozen=True):
    detection_ms: float
    beyond_ms: float
    """Longest wait of a call beyond detection. For a call to the dead server, the client's own timeout is subtracted, too."""
    failed: int
    answered: dict[float, float]
    """Answered calls per second, by milliseconds since the death."""


def gap(protocol: str, detected: Detected, letter: str, seed: int, deaths: int = 1) -> Gap:
    """One run: the first `deaths` servers with this letter die at once under load. `detected` refers to the first of them."""
    config = one_group(STANDBYS, protocol=protocol)
    cluster = SimCluster(config, seed, WORKLOAD)
    cluster.run_until(cluster.settled)
    cluster.run_for(BEFORE_NS + 7 * seed * MILLISECOND)
    victims = [name for name, found in cluster.view().items() if found == letter][:deaths]
    died_ns = cluster.now_ns
    for victim in victims:
        cluster.faults.crash(victim)
    cluster.run_until(lambda: detected(cluster, victims[0], died_ns), 60 * SECOND)
    detected_ns = cluster.now_ns
    cluster.run_for(AFTER_NS)
    assert cluster.workload is not None
    calls = [s.event for s in cluster.events if type(s.event) is Called]
    patience_ns = config.timing.client_timeout_ms * MILLISECOND
    return Gap(
        (detected_ns - died_ns) / MILLISECOND,
        max(beyond_ns(call, detected_ns, patience_ns) for call in calls if call.returned_ns > died_ns)
        / MILLISECOND,
        sum(number for error, number in cluster.workload.counts().items() if error not in ORDINARY),
        per_second(calls, died_ns, detected_ns),
    )


def beyond_ns(call: Called, detected_ns: int, patience_ns: int) -> int:
    return call.returned_ns - max(detected_ns, call.invoked_ns + (call.tries > 1) * patience_ns)


def per_second(calls: list[Called], died_ns: int, detected_ns: int) -> dict[float, float]:
    first, last = -BEFORE_NS // 2 // BUCKET_NS, (detected_ns - died_ns + SECOND) // BUCKET_NS
    counted = Counter((call.returned_ns - died_ns) // BUCKET_NS for call in calls)
    return {
        place * BUCKET_NS / MILLISECOND: counted[place] * SECOND / BUCKET_NS for place in range(first, last)
    }


def run_of(
    protocol: str, letter: str, detected: Detected, key: str, note: str
) -> Callable[[bool], ExperimentOutcome]:
    """The experiment with this key: the worst of several deaths of a server with this letter."""

    def run(quick: bool) -> ExperimentOutcome:
        gaps = [gap(protocol, detected, letter, seed) for seed in (SEEDS[:1] if quick else SEEDS)]
        figures = {
            key: round(max(found.beyond_ms for found in gaps), 1),
            "detection_ms": round(max(found.detection_ms for found in gaps), 1),
            "failed_calls": float(sum(found.failed for found in gaps)),
        }
        config = {
            "fabric": "simulated",
            "servers": STANDBYS + 1,
            "deaths": len(gaps),
            "callers": WORKLOAD.clients,
            "calls_per_s": WORKLOAD.rate_per_s,
        }
        series = {"three servers": sorted(gaps[0].answered.items())}
        chart = Chart(
            "A server dies at 0", "milliseconds since the death", "calls answered per second", series
        )
        return ExperimentOutcome(config, figures, {"failed_calls": 0.0}, chart, [note])

    return run


def session_has_ended(cluster: SimCluster, victim: str, died_ns: int) -> bool:
    return victim not in cluster.ensemble.observer.holders.values()


def proposed_ns(cluster: SimCluster, since_ns: int) -> int:
    """Time of the first proposal of a view since then; 0 before it."""
    return next(
        (
            stamped.at_ns
            for stamped in cluster.events
            if type(stamped.event) is StepTaken
            and stamped.event.step == "propose"
            and stamped.at_ns >= since_ns
        ),
        0,
    )


def changes_view(cluster: SimCluster, victim: str, died_ns: int) -> bool:
    """Whether a member proposes the view without the dead one."""
    return proposed_ns(cluster, died_ns) > 0


OF_PAXOS = (
    "paxos_gap_ms: the longest that any call waited beyond the end of the dead primary's session (5 s), or beyond the patience of its client where "
    "it was sent to the dead server. The paper says that the application ends, a little later."
)

EXPERIMENTS = [
    Experiment(
        "dcfs3-failover",
        "DCFS3, mpiBLAST, fault-tolerance",
        "the primary dies while clients work",
        run_of("packed-paxos", "P", session_has_ended, "paxos_gap_ms", OF_PAXOS),
    ),
]
