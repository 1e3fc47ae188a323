"""The minimum of `docs/add-a-protocol.md`: a folder with the agreement, and a line in FAMILIES."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from backend.scenarios.family_translation import on_family
from backend.scenarios.reader import read
from backend.scenarios.runner import run
from backend.shape import Shape, new_config
from nodes import families, mechanisms
from nodes.config import one_group
from nodes.counters import Replicating
from nodes.families import Family
from nodes.metadata.operations import Mkdir, Stat
from nodes.sim import cluster as sim
from tests.simulation.baselines.toy import mechanism

ROOT = Path(__file__).resolve().parents[3]
FAMILY = Family("toy", "a primary that waits for nobody", standbys=1, standbys_max=3, promises=False)
SCENARIOS = ("faults/calm", "faults/crash-the-active", "data/replica-rots", "groups/clocks-minutes-apart")


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registers the toy as `nodes/mechanisms.py` finds a folder of nodes/protocols."""
    monkeypatch.setitem(mechanisms.REPLICATION, "toy", mechanism.start)
    monkeypatch.setitem(mechanisms.REPLICATING, "toy", Replicating(mechanism.COUNTED))
    monkeypatch.setattr(sim, "MESSAGES", (*mechanisms.MESSAGES, *mechanism.MESSAGES))
    monkeypatch.setitem(families.FAMILIES, "toy", FAMILY)


def test_a_family_is_a_folder_and_a_line() -> None:
    assert len(new_config(Shape(protocol="toy"), "clover").groups[0].members) == 2
    cluster = sim.SimCluster(one_group(1, protocol="toy"), 1)
    ada = cluster.start_client("ada")
    ada.call(Mkdir("/a"))
    assert ada.call(Stat("/a")).error == ""
    cluster.run_until(cluster.settled)


@pytest.mark.parametrize("name", SCENARIOS)
def test_it_plays_the_scenarios_that_it_should(name: str) -> None:
    scenario = on_family(read(ROOT / "scenarios" / f"{name}.yaml")[0], "toy")
    outcome = asyncio.run(run(scenario, "simulated", 1))
    assert outcome.held, [verdict for verdict in outcome.verdicts if not verdict.held]


def test_it_takes_fewer_than_250_lines() -> None:
    assert Path(mechanism.__file__).read_text().count("\n") < 250
