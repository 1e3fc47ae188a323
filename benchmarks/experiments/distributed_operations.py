"""`s2pc-messages`: cost of an operation on two groups by S2PC-MP and by two-phase commit (DCFS2 §4.2, Fig. 3). Counted in the simulator."""

from __future__ import annotations

from benchmarks.distributed import DIRECTORIES, cost
from benchmarks.experiments.model import Chart, Experiment, Outcome

PAPER = {
    "s2pc_messages": 3.0,
    "s2pc_log_writes": 4.0,
    "two_phase_messages": 5.0,
    "two_phase_log_writes": 5.0,
}


def run(quick: bool) -> Outcome:
    figures: dict[str, float] = {}
    for name, mechanism in (("s2pc", "s2pc_mp"), ("two_phase", "two_phase")):
        messages, writes = cost(mechanism)
        figures |= {f"{name}_messages": round(messages, 3), f"{name}_log_writes": round(writes, 3)}
    series = {
        f"{label}, {whose}": [(1.0, reported[f"{key}_messages"]), (2.0, reported[f"{key}_log_writes"])]
        for label, key in (("S2PC-MP", "s2pc"), ("two-phase commit", "two_phase"))
        for whose, reported in (("ours", figures), ("the paper's", PAPER))
    }
    chart = Chart(
        "An operation on two groups", "", "each", series, "bars", ["messages", "synchronous log writes"]
    )
    config = {"fabric": "simulated", "groups": 2, "operations": DIRECTORIES}
    return Outcome(config, figures, PAPER, chart)


EXPERIMENTS = [
    Experiment("s2pc-messages", "DCFS2 §4.2, Fig. 3", "messages and log writes of a mkdir on two groups", run)
]
