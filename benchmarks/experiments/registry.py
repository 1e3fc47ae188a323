"""The experiments by name, and their modules, which are loaded on request."""

from __future__ import annotations

import importlib

from backend.errors import NotThere
from benchmarks.experiments.model import Experiment

MODULES = {
    "cfs-fig8a": "journal_latency",
    "cfs-fig8b": "journal_sizes",
    "cfs-fig8c": "journal_sizes",
    "cfs-fig8e": "group_rates",
    "cfs-fig8f": "pool_node_deaths",
    "cfs-fig9": "group_rates",
    "cfs-fig10": "file_write",
    "cfs-fig12": "junior_renewing",
    "cfs-table1": "reliability",
    "cfs-table2": "failover_time",
    "cfs-table3a": "state_rows",
    "cfs-table3b": "state_rows",
    "cfs-table3c": "state_rows",
    "dcfs3-create": "mdtest",
    "dcfs3-failover": "primary_dies",
    "dcfs3-packing": "packing",
    **{f"ddg-fig{number}": "placements" for number in range(6, 14)},
    "dcfs3-stat": "mdtest",
    "s2pc-fig15": "group_rates",
    "s2pc-messages": "distributed_operations",
    "s2pc-table4": "recovery_time",
    "s2pc-table5": "recovery_time",
    "saa-7.3": "member_dies",
    "saa-fig8": "writes_ordered",
    "saa-fig9": "writes_ordered",
    "saa-fig7": "order_latency",
    "saa-fig10": "reads_anywhere",
    "vssp-fig7-read": "images",
    "vssp-fig7-write": "images",
    "vssp-fig8a": "pool_node_deaths",
    "vssp-fig8b": "pool_files",
    "vssp-table1": "pool_files",
}


def experiment_named(name: str) -> Experiment:
    """Raises NotThere."""
    if name not in MODULES:
        raise NotThere(f"reproduce {name[:40]!r} is unknown; there are {', '.join(MODULES)}")
    module = importlib.import_module(f"benchmarks.experiments.{MODULES[name]}")
    found: Experiment = next(experiment for experiment in module.EXPERIMENTS if experiment.name == name)
    return found
