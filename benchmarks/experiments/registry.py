"""The experiments by name, and their modules, which are loaded on request."""

from __future__ import annotations

import importlib

from backend.errors import Malformed
from backend.suggestion import nearest
from benchmarks._model import Experiment

MODULES = {
    "cfs-fig8a": "experiments.journal_latency",
    "cfs-fig8b": "experiments.journal_sizes",
    "cfs-fig8c": "experiments.journal_sizes",
    "cfs-fig8d": "experiments.journal_reads",
    "cfs-fig8e": "experiments.group_rates",
    "cfs-fig8f": "experiments.pool_node_deaths",
    "cfs-fig9": "experiments.group_rates",
    "cfs-fig10": "experiments.file_write",
    "cfs-fig10-reports": "experiments.block_reports",
    "cfs-fig12": "renewing",
    "cfs-fig13": "experiments.global_recovery",
    "cfs-fig14": "experiments.word_count",
    "cfs-table1": "experiments.reliability",
    "cfs-table2": "experiments.failover_time",
    "cfs-table2-crossover": "experiments.collection",
    "cfs-table3a": "experiments.state_rows",
    "cfs-table3b": "experiments.state_rows",
    "cfs-table3c": "experiments.state_rows",
    "dcfs3-create": "experiments.mdtest",
    "dcfs3-failover": "experiments.gaps",
    "dcfs3-packing": "packing",
    **{f"ddg-fig{number}": "ddg" for number in range(6, 14)},
    "dcfs3-stat": "experiments.mdtest",
    "s2pc-fig14": "experiments.bandwidth",
    "s2pc-fig15": "experiments.group_rates",
    "s2pc-messages": "distributed",
    "s2pc-table4": "recovery",
    "s2pc-table5": "recovery",
    "saa-7.3": "experiments.member_changes",
    "saa-fig8": "experiments.ordered_writes",
    "saa-fig9": "experiments.ordered_writes",
    "saa-fig7": "experiments.order_latency",
    "saa-fig10": "experiments.local_reads",
    "saa-fig11": "experiments.operation_times",
    "saa-fig12": "experiments.operation_times",
    "vssp-fig6c": "experiments.journal_reads",
    "vssp-fig6d": "experiments.group_rates",
    "vssp-fig7-read": "experiments.images",
    "vssp-fig7-write": "experiments.images",
    "vssp-fig8a": "experiments.pool_node_deaths",
    "vssp-fig8b": "experiments.pool_files",
    "vssp-table1": "experiments.pool_files",
}


def experiment_named(name: str) -> Experiment:
    """Raises Malformed."""
    if name not in MODULES:
        raise Malformed(
            f"reproduce {name[:40]!r} is unknown{nearest(name, MODULES)}; there are {', '.join(MODULES)}"
        )
    module = importlib.import_module(f"benchmarks.{MODULES[name]}")
    found: Experiment = next(experiment for experiment in module.EXPERIMENTS if experiment.name == name)
    return found
