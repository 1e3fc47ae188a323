"""The models of the checks: deleted names are forgotten, and too many end the check with one line."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND, WorkloadConfig, many_groups, one_group
from nodes.invariants import linearisability, registry, stamp_order
from nodes.invariants.model import Model
from nodes.sim.cluster import SimCluster


def run(model: Model, position: int, *operation: Any) -> None:
    error, _ = model.run(list(operation), position)
    assert error == ""


def test_a_model_counts_the_names_that_are_there() -> None:
    model = Model()
    run(model, 1, "Mkdir", "/d", False, 0o755)
    run(model, 2, "Create", "/d/a", 0o644)
    run(model, 3, "Create", "/d/b", 0o644)
    run(model, 4, "Link", "/d/a", "/d/c")
    run(model, 5, "Rename", "/d/a", "/d/b", True)
    assert model.names == len(model.paths()) - 1 == 3
    run(model, 6, "Delete", "/d/b", False)
    run(model, 7, "Create", "/d/b", 0o644)
    assert model.names == model.copy().names == 3
    model.past.forget_before(9)
    run(model, 10, "Delete", "/d/b", False)
    run(model, 11, "Delete", "/d/c", False)
    assert model.names == len(model.paths()) - 1 == 1


@pytest.mark.parametrize(("groups", "module"), [(1, linearisability), (2, stamp_order)])
def test_too_many_names_end_the_check_with_one_line(
    groups: int, module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "NAMES_MAX", 50)
    config = one_group(1) if groups == 1 else many_groups(groups)
    cluster = SimCluster(config, 1, WorkloadConfig(clients=2, rate_per_s=20, mix={"create": 1}))
    checks = registry.start(config)
    cluster.on_event(checks.on_event)
    cluster.run_until(cluster.settled)
    cluster.run_for(20 * SECOND)
    [row] = [each for each in checks.invariants() if each["invariant"] == "linearisable"]
    assert (row["state"], checks.failures) == ("grey", [])
    assert row["explanation"].startswith("cannot go on: the namespace has more than")
