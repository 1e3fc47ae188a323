"""Names that earlier versions spell differently. `bench before` copies this file to the earlier tree, beside the benchmark."""

from __future__ import annotations

import importlib
from typing import Any

from nodes.config import ClusterConfig


def first_of(name: str, *modules: str) -> Any:
    """The object of this name in the first of these modules that exists here. Raises ImportError."""
    for module in modules:
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
    raise ImportError(f"none of {', '.join(modules)} has {name}")


CLIENT: str = first_of("CLIENT", "backend.names", "backend.fabrics.names")
FAULT_UNSUPPORTED: type[Exception] = first_of("FaultUnsupported", "nodes.faults.check", "nodes.sim.faults")


def log_limit(count: int) -> dict[str, Any]:
    """The option of a cluster that limits its log to that many bytes."""
    known = ("log_bytes", "log_octets")
    return {next(name for name in known if name in ClusterConfig.__struct_fields__): count}
