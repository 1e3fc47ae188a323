"""The compose file of a scenario has the hosts that the scenario needs, and is consistent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from backend.fabrics.inventory import Inventory
from backend.hosts import COMPOSE_FILE, Hosts, fitted, write
from backend.scenarios.reader import read
from backend.scenarios.runner import cluster_config

SCENARIOS = Path(__file__).resolve().parents[3] / "scenarios"
COMPOSE: dict[str, Any] = YAML(typ="safe", pure=True).load(COMPOSE_FILE.read_text())


@given(st.integers(1, 16), st.integers(0, 9))
def test_every_host_is_itself_and_depends_on_what_is_there(servers: int, data_nodes: int) -> None:
    hosts = Hosts(servers, data_nodes)
    made = fitted(COMPOSE, hosts)
    names = [*hosts.names("mds"), *hosts.names("dn")]
    for name in names:
        service = made["services"][f"host-{name}"]
        assert service["command"][-2:] == ["--name", name]
        assert service["volumes"][0] == f"{name}:/data" and name in made["volumes"]
        assert service["networks"] == {
            "data": {"aliases": [name]},
            "control": {"aliases": [f"{name}.control"]},
        }
        assert service["mem_limit"] and service["cap_drop"] == ["ALL"]
    for service in made["services"].values():
        assert set(service.get("depends_on", {})) <= set(made["services"])
    inventory = Inventory.reported(made["services"]["control"]["environment"])
    assert set(made["services"]) == {f"host-{name}" for name in inventory.hosts()} | {"control"}


@pytest.mark.parametrize(
    "file", sorted(SCENARIOS.rglob("*.yaml")), ids=lambda file: str(file.relative_to(SCENARIOS))
)
def test_a_shipped_scenario_finds_its_servers(file: Path) -> None:
    scenarios = read(file)
    hosts = Hosts.of(scenarios)
    for scenario in scenarios:
        config = cluster_config(scenario.cluster, 1.0)
        members = [name for group in config.groups for name in group.members]
        adds = any(step.fault == "add_server" for step in scenario.steps)
        assert set(members) <= set(hosts.names("mds"))
        assert len(members) + adds + len(config.journal.nodes) <= hosts.servers
        assert set(config.data.nodes) <= set(hosts.names("dn"))


def test_the_file_is_one_that_compose_reads(tmp_path: Path) -> None:
    reported = json.loads(write(Hosts(9, 2), tmp_path).read_text())
    assert "host-mds9" in reported["services"] and "host-dn3" not in reported["services"]
    assert reported["services"]["host-mds9"]["build"]["network"] == "${DOCKER_BUILD_NETWORK:-default}"
