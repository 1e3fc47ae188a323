"""The experiments by name; each is a module of its own, loaded when it is asked for."""

from __future__ import annotations

import importlib

from backend.errors import NotThere
from backend.experiments.model import Experiment

MODULES = {
    "cfs-fig8a": "journal_latency",
    "dcfs3-failover": "primary_dies",
    "dcfs3-packing": "packing",
    "saa-7.3": "member_dies",
    "saa-fig7": "order_latency",
    "saa-fig10": "reads_anywhere",
}


def experiment_named(name: str) -> Experiment:
    """Raises NotThere."""
    if name not in MODULES:
        raise NotThere(f"reproduce {name[:40]!r} is unknown; there are {', '.join(MODULES)}")
    found: Experiment = importlib.import_module(f"backend.experiments.{MODULES[name]}").EXPERIMENT
    assert found.name == name
    return found
