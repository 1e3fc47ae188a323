"""`cfs-table1`: effect of backups on the mean time to failure of a replica group (CFS §5.1, Fig. 7, Table 1). The Markov model, without servers."""

from __future__ import annotations

from benchmarks._model import Chart, Experiment, ExperimentOutcome

FAILURES, REPAIRS = 0.001, 0.9
"""The paper's lambda and mu."""
BACKUPS = (1, 2, 3, 4, 5)


def mean_time_to_failure(servers: int, failures: float, repairs: float) -> float:
    """Time until all servers are down: a running one fails at the rate `failures`, a failed one is repaired at the rate `repairs`.

    The way from i to i + 1 failed servers takes 1/f, plus the share r/f of the way that repairs undid (f, r: the rates of the next failure
    and repair).
    """
    total = step = 0.0
    for down in range(servers):
        failing = (servers - down) * failures
        step = (1 + (repairs * step if down else 0.0)) / failing
        total += step
    return total


def formula_1a2s(failures: float, repairs: float) -> float:
    """Equation 8."""
    return (repairs**2 + 4 * failures * repairs + 11 * failures**2) / (6 * failures**3)


def run(quick: bool) -> ExperimentOutcome:
    alone = mean_time_to_failure(1, FAILURES, REPAIRS)
    ratios = {backups: mean_time_to_failure(backups + 1, FAILURES, REPAIRS) / alone for backups in BACKUPS}
    figures = {f"mttf_ratio_{backups}": float(f"{ratio:.6g}") for backups, ratio in ratios.items()}
    figures["equation_8"] = round(formula_1a2s(FAILURES, REPAIRS) / alone, 1)
    paper = {f"mttf_ratio_{backups}": 10.0 ** (3 * backups) for backups in BACKUPS} | {
        "equation_8": 135_601.0
    }
    series = {
        "the model": [(float(backups), ratio) for backups, ratio in ratios.items()],
        "Table 1": [(float(backups), paper[f"mttf_ratio_{backups}"]) for backups in BACKUPS],
    }
    chart = Chart(
        "Reliability by backups", "added backups", "MTTF over one server's", series, logarithmic=True
    )
    return ExperimentOutcome({"lambda": FAILURES, "mu": REPAIRS}, figures, paper, chart, [NOTE])


NOTE = "Table 1 rounds to a thousand for each backup; the paper's own model gives less, as it gives 135,601 itself for two."

EXPERIMENTS = [Experiment("cfs-table1", "CFS §5.1, Table 1", "mean time to failure by added backups", run)]
