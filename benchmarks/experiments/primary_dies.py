"""`dcfs3-failover`: the primary of Packed Multi-Paxos dies while an application works (DCFS3, mpiBLAST, fault-tolerance)."""

from __future__ import annotations

from benchmarks._model import Experiment
from benchmarks.experiments.gaps import run_of
from nodes.sim.cluster import SimCluster


def session_has_ended(cluster: SimCluster, victim: str, died_ns: int) -> bool:
    return victim not in cluster.ensemble.observer.holders.values()


NOTE = (
    "paxos_gap_ms: the longest that any call waited beyond the end of the dead primary's session (5 s), or beyond the patience of its client where "
    "it was sent to the dead server. The paper says that the application ends, a little later."
)

EXPERIMENTS = [
    Experiment(
        "dcfs3-failover",
        "DCFS3, mpiBLAST, fault-tolerance",
        "the primary dies while clients work",
        run_of("packed-paxos", "P", session_has_ended, "paxos_gap_ms", NOTE),
    )
]
