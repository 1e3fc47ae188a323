"""`saa-7.3`: a member of a symmetric group dies under random updates (SAA §7.3)."""

from __future__ import annotations

from benchmarks._model import Experiment
from benchmarks.experiments.gaps import run_of
from nodes.sim.cluster import SimCluster
from nodes.trace.events import StepTaken


def changes_view(cluster: SimCluster, victim: str, died_ns: int) -> bool:
    """Whether a member proposes the view without the dead one."""
    return any(
        type(stamped.event) is StepTaken and stamped.event.step == "propose" and stamped.at_ns >= died_ns
        for stamped in cluster.events
    )


NOTE = (
    "symmetric_gap_ms: the longest that any call waited beyond the moment at which the others propose the next view, or beyond the patience of "
    "its client where it was sent to the dead member. The paper says: no interruption, no lost state."
)

EXPERIMENTS = [
    Experiment(
        "saa-7.3",
        "SAA §7.3",
        "a member dies while clients work",
        run_of("symmetric", "M", changes_view, "symmetric_gap_ms", NOTE),
    )
]
