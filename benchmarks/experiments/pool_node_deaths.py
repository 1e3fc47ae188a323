"""`cfs-fig8f`, `vssp-fig8a`: latency of calls while pool nodes die one after the other (CFS §5.2, Fig. 8f; VSSP §IV.C, Fig. 8a).

In virtual time, on one active and three standbys. A server takes a fixed time for each message and each write.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count
from statistics import mean

from benchmarks._model import Chart, Experiment, ExperimentOutcome, Point
from benchmarks._simulation import MESSAGE_NS, call_on, charge, charge_writes
from nodes.config import MILLISECOND, SECOND, Timing, one_group
from nodes.metadata.operations import Create, Operation
from nodes.sim.cluster import SimCluster
from nodes.trace.events import Called

STANDBYS = 3
CALLERS, THINK_NS = 8, 2 * MILLISECOND
APART_NS = 2 * SECOND
"""Time between two deaths, in which the group detects the first and continues without it."""
BUCKET_NS = 100 * MILLISECOND
SEEDS = (1, 2, 3, 4)
PATIENT = Timing(client_timeout_ms=30_000, call_deadline_ms=120_000)
"""Long timeouts: a call without an answer waits, and counts in no bucket."""
PAPER = {"most_after_death_1": 3.0, "most_after_death_2": 3.0, "answered_after_death_3": 0.0}


def files(caller: int) -> Iterator[Operation]:
    return (Create(f"/{caller}-{number}") for number in count())


def latencies(seed: int) -> dict[int, list[float]]:
    """Latencies in ms of the calls answered in each bucket; a standby dies in the buckets 0, APART_NS / BUCKET_NS and so on."""
    cluster = SimCluster(one_group(STANDBYS, timing=PATIENT), seed)
    cluster.run_until(cluster.settled)
    clients = [cluster.start_client(f"client{number + 1}") for number in range(CALLERS)]
    charge(cluster)
    charge_writes(cluster)
    for number, client in enumerate(clients):
        call_on(cluster, client, files(number), THINK_NS, random.Random(f"{seed}/{number}"))
    cluster.run_for(APART_NS)
    standbys = [name for name, letter in cluster.view().items() if letter == "S"]
    first_ns = cluster.now_ns
    for standby in standbys:
        cluster.faults.crash(standby)
        cluster.run_for(APART_NS)
    found: dict[int, list[float]] = {
        bucket: [] for bucket in range(-APART_NS // BUCKET_NS, (cluster.now_ns - first_ns) // BUCKET_NS)
    }
    for stamped in cluster.events:
        event = stamped.event
        if type(event) is Called:
            bucket = found.setdefault((event.returned_ns - first_ns) // BUCKET_NS, [])
            bucket.append((event.returned_ns - event.invoked_ns) / MILLISECOND)
    return found


def run(quick: bool) -> ExperimentOutcome:
    seeds = SEEDS[:1] if quick else SEEDS
    each = [latencies(seed) for seed in seeds]
    by_bucket = {bucket: [ms for found in each for ms in found.get(bucket, [])] for bucket in sorted(each[0])}
    apart = APART_NS // BUCKET_NS
    normal = mean(ms for bucket, found in by_bucket.items() if bucket < 0 for ms in found)
    figures = {"ms_mean_before": round(normal, 3)}
    for death in range(1, STANDBYS + 1):
        began = (death - 1) * apart
        after = [by_bucket[bucket] for bucket in range(began, began + apart)]
        figures[f"answered_after_death_{death}"] = float(sum(map(len, after[1:])))
        if all(after):
            figures[f"most_after_death_{death}"] = round(max(map(mean, after)) / normal, 2)
    points: list[Point] = [
        (bucket * BUCKET_NS / SECOND, mean(found)) for bucket, found in by_bucket.items() if found
    ]
    chart = Chart(
        "A pool node dies at 0, 2 and 4 seconds",
        "seconds",
        "mean latency in milliseconds",
        {"creates": points},
    )
    config = {
        "fabric": "simulated",
        "standbys": STANDBYS,
        "callers": CALLERS,
        "think_ms": THINK_NS / MILLISECOND,
        "message_us": MESSAGE_NS / 1000,
        "seeds": list(seeds),
    }
    return ExperimentOutcome(config, figures, PAPER, chart, [NOTE])


NOTE = (
    "most_after_death_N: the highest mean latency of a tenth of a second in the two seconds after the N-th death, over that before all. "
    "The paper's active waits once for the one that died, three times as long; ours counts a majority and does not wait for it. "
    "With one of four left nothing is safe, so nothing is answered."
)

EXPERIMENTS = [
    Experiment(name, paper, "latency while pool nodes die one after the other", run)
    for name, paper in (("cfs-fig8f", "CFS §5.2, Fig. 8f"), ("vssp-fig8a", "VSSP §IV.C, Fig. 8a"))
]
