"""The variant `paper` of every protocol starts and serves.

Without a fault only SAA's text diverges, when members broadcast at the same time (tests/simulation/symmetric/test_holes.py): here all clients
call one member.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from backend.scenarios.model import ClusterPart, EndPart, ExpectPart, Scenario, WorkloadPart
from backend.scenarios.runner import ScenarioOutcome, ScenarioRun
from nodes.families import FAMILIES

MIX: dict[str, float] = {"create": 6, "mkdir": 1, "stat": 3, "rename": 1, "delete": 1}
SEEDS = (1, 2)
SEVERAL = ("mams", {"groups": 3, "standbys": 1, "placement": "ddg"})
CLUSTERS = [*((name, {"standbys": family.standbys}) for name, family in FAMILIES.items()), SEVERAL]


def outcome_of(seed: int, rate: str, **cluster: Any) -> ScenarioOutcome:
    scenario = Scenario(
        name="paper", teaches="what the text says", cluster=ClusterPart(variant="paper", **cluster),
        workload=WorkloadPart(clients=4, rate=rate, mix=MIX), end=EndPart(at="5s"),
        expect=ExpectPart(failed_calls=0, invariants="all"),
    )  # fmt: skip
    return asyncio.run(ScenarioRun(scenario, "simulated", seed).run())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("protocol", "shape"), CLUSTERS)
def test_it_serves(protocol: str, shape: dict[str, Any], seed: int) -> None:
    outcome = outcome_of(seed, "50/s", protocol=protocol, **shape)
    assert outcome.held, [verdict for verdict in outcome.verdicts if not verdict.held]
    assert outcome.calls > 150
