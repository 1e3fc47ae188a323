"""The experiments by name, and the modules that know them, loaded when one is asked for."""

from __future__ import annotations

import importlib

from backend.errors import NotThere
from backend.experiments.model import Experiment

MODULES = {
    "cfs-fig8a": "journal_latency",
    "cfs-table1": "reliability",
    "cfs-table3a": "state_rows",
    "cfs-table3b": "state_rows",
    "cfs-table3c": "state_rows",
    "dcfs3-failover": "primary_dies",
    "dcfs3-packing": "packing",
    "s2pc-messages": "distributed_operations",
    "saa-7.3": "member_dies",
    "saa-fig7": "order_latency",
    "saa-fig10": "reads_anywhere",
}


def experiment_named(name: str) -> Experiment:
    """Raises NotThere."""
    if name not in MODULES:
        raise NotThere(f"reproduce {name[:40]!r} is unknown; there are {', '.join(MODULES)}")
    module = importlib.import_module(f"backend.experiments.{MODULES[name]}")
    found: Experiment = next(experiment for experiment in module.EXPERIMENTS if experiment.name == name)
    return found
