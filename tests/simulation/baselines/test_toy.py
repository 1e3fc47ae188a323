"""What `docs/add-a-protocol.md` says is enough: a folder, a line in REPLICATION, a line in FAMILIES."""

from __future__ import annotations

import asyncio

import pytest

from backend.scenarios.model import ClusterPart, EndPart, ExpectPart, Scenario
from backend.scenarios.runner import run
from backend.shape import Shape, new_config
from nodes import families, mechanisms
from nodes.config import one_group
from nodes.families import Family
from nodes.metadata.operations import Mkdir, Stat
from nodes.sim.cluster import SimCluster
from tests.simulation.baselines.toy import mechanism


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(mechanisms.REPLICATION, "toy", mechanism.start)
    family = Family("toy", "one server, in memory", standbys=0, standbys_max=0)
    monkeypatch.setitem(families.FAMILIES, "toy", family)


def test_a_family_is_a_folder_and_two_lines() -> None:
    assert len(new_config(Shape(protocol="toy"), "clover").groups[0].members) == 1
    cluster = SimCluster(one_group(0, protocol="toy"), 1)
    ada = cluster.start_client("ada")
    ada.call(Mkdir("/a"))
    assert ada.call(Stat("/a")).error == ""


def test_it_plays_a_scenario() -> None:
    scenario = Scenario(
        name="toy",
        teaches="a server with a place in the view is settled",
        cluster=ClusterPart(protocol="toy", standbys=0),
        end=EndPart(at="5s"),
        expect=ExpectPart(settled=True, letters="A", failed_calls=0, invariants="all"),
    )
    outcome = asyncio.run(run(scenario, "simulated", 1))
    assert outcome.held, [verdict for verdict in outcome.verdicts if not verdict.held]
    assert outcome.calls > 200
