"""compose.yaml, adapted to the hosts that a scenario needs. Pure, except that it reads and writes the file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
from ruamel.yaml import YAML

from backend.repository import REPOSITORY
from backend.scenarios.model import Scenario
from nodes.kinds import KINDS

COMPOSE_FILE = REPOSITORY / "compose.yaml"
SAMPLES = {"mds": "mds1", "dn": "dn1"}
"""Host of compose.yaml that new hosts of a kind are copied from."""


class Hosts(msgspec.Struct, frozen=True):
    """Number of containers of each kind, beside the ensemble and the client."""

    servers: int
    data_nodes: int

    @classmethod
    def of(cls, scenarios: list[Scenario]) -> Hosts:
        """Hosts that suffice for each of the scenarios."""
        return cls(
            max(servers_of(scenario) for scenario in scenarios),
            max(scenario.cluster.counts()["data_node"] for scenario in scenarios),
        )

    def names(self, kind: str) -> list[str]:
        count = self.servers if kind == "mds" else self.data_nodes
        return [f"{kind}{number}" for number in range(1, count + 1)]


def servers_of(scenario: Scenario) -> int:
    """Number of servers, with those added on the way and those that carry nodes."""
    cluster = scenario.cluster
    added = sum(step.fault == "add_server" for step in scenario.steps)
    carried = sum(count for kind, count in cluster.counts().items() if not KINDS[kind].own_hosts)
    return cluster.groups * (cluster.standbys + 1) + added + carried


def fitted(compose: dict[str, Any], hosts: Hosts) -> dict[str, Any]:
    """The same file with exactly these hosts; missing ones are copied from the first of their kind."""
    services, volumes = compose["services"], compose["volumes"]
    samples = {kind: services[f"host-{name}"] for kind, name in SAMPLES.items()}
    kept = {name: service for name, service in services.items() if not re.match(r"host-(mds|dn)\d", name)}
    for kind, sample in samples.items():
        for name in hosts.names(kind):
            kept[f"host-{name}"] = like(sample, SAMPLES[kind], name)
            volumes = {**volumes, name: {}}
    control = {key: value for key, value in kept["control"].items() if key != "depends_on"}
    control["environment"] = {
        **control["environment"],
        "CLOVERLAB_GROUPS": " ".join(hosts.names("mds")),
        "CLOVERLAB_SPARES": "",
        "CLOVERLAB_DATA_NODES": " ".join(hosts.names("dn")),
    }
    return {**compose, "services": {**kept, "control": control}, "volumes": volumes}


def like(sample: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    """A service under another name; commands, volumes and aliases contain the new name."""
    copy: dict[str, Any] = json.loads(re.sub(rf"\b{old}\b", new, json.dumps(sample)))
    return copy


def write(hosts: Hosts, directory: Path) -> Path:
    """Writes a file for compose, in JSON, which is valid YAML."""
    compose = YAML(typ="safe", pure=True).load(COMPOSE_FILE.read_text())
    file = directory / "compose.json"
    file.write_text(json.dumps(fitted(compose, hosts), indent=1))
    return file
