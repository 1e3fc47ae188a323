"""The files of deploy/ are valid by the schemas of Kubernetes, and agree with compose.yaml and the code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
from ruamel.yaml import YAML

from backend.fabrics.inventory import Inventory
from nodes.log_lines import FORMAT, LEVEL

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
VERSION = "1.31"
MANIFESTS = sorted(
    path for path in (DEPLOY / "kubernetes").glob("*.yaml") if path.name != "kustomization.yaml"
)
METRIC = re.compile(r"\bcloverlab_\w+")


def documents(path: Path) -> list[dict[str, Any]]:
    return list(YAML(typ="safe", pure=True).load_all(path.read_text()))


def loaded(path: Path) -> dict[str, Any]:
    (found,) = documents(path)
    return found


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_a_manifest_is_what_kubernetes_takes(path: Path) -> None:
    for document in documents(path):
        kubernetes_validate.validate(document, VERSION, strict=True)


def test_a_wrong_manifest_is_found() -> None:
    document = documents(DEPLOY / "kubernetes" / "control.yaml")[1]
    document["spec"]["template"]["spec"]["containers"][0]["imaeg"] = "cloverlab"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(document, VERSION, strict=True)


def test_the_kustomization_names_every_manifest() -> None:
    reported = loaded(DEPLOY / "kubernetes" / "kustomization.yaml")
    assert sorted(reported["resources"]) == [path.name for path in MANIFESTS]


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in MANIFESTS:
        for document in documents(path):
            if document["kind"] in ("StatefulSet", "Deployment"):
                yield document["metadata"]["name"], document


def test_every_pod_is_unprivileged_and_reads_the_token_from_the_secret() -> None:
    seen = dict(pods())
    assert set(seen) == {"zk", "mds", "dn", "client1", "control"}
    for name, document in seen.items():
        pod = document["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        assert pod["securityContext"]["runAsUser"] == pod["securityContext"]["runAsGroup"] == 10001
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "metrics"}
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert container["securityContext"]["capabilities"]["drop"] == ["ALL"]
        wants = container["securityContext"]["capabilities"].get("add", [])
        assert wants == ([] if name == "control" else ["NET_ADMIN"])
        (secret,) = [volume for volume in pod["volumes"] if volume["name"] == "token"]
        assert secret["secret"]["secretName"] == "cloverlab-token"
        assert not any("hostPath" in volume for volume in pod["volumes"])


def test_the_readiness_of_the_control_plane_is_that_of_the_cluster() -> None:
    (container,) = dict(pods())["control"]["spec"]["template"]["spec"]["containers"]
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "metrics"}


def test_metrics_are_for_prometheus_and_every_pod_has_a_policy() -> None:
    policies = [document["spec"] for document in documents(DEPLOY / "kubernetes" / "network-policy.yaml")]
    rules = [rule for policy in policies for rule in policy.get("ingress", [])]
    assert all("from" in rule for rule in rules), "an open port"
    hosts = {
        host
        for policy in policies
        if "Ingress" in policy["policyTypes"]
        for host in [policy["podSelector"].get("matchLabels", {}).get("host")]
        + [each for row in policy["podSelector"].get("matchExpressions", []) for each in row["values"]]
    }
    assert hosts >= set(dict(pods()))


def test_every_service_of_the_stack_and_of_compose_is_bounded() -> None:
    compose, stack = loaded(ROOT / "compose.yaml"), loaded(DEPLOY / "swarm" / "stack.yaml")
    for name, service in stack["services"].items():
        (scratch,) = [volume for volume in service["volumes"] if isinstance(volume, dict)]
        assert scratch["target"] == "/tmp" and scratch["tmpfs"]["size"] <= 1 << 26
        assert service["logging"]["options"]["max-size"] == "10m"
        assert compose["services"][name]["logging"] == service["logging"]
    for network in stack["networks"].values():
        assert network["driver_opts"]["encrypted"] == "true"


def test_the_control_plane_knows_the_pods_that_there_are() -> None:
    seen = dict(pods())
    container = seen["control"]["spec"]["template"]["spec"]["containers"][0]
    reported = {each["name"]: each["value"] for each in container["env"]}
    inventory = Inventory.reported(reported)
    for kind, names in (
        ("mds", inventory.servers()),
        ("dn", inventory.nodes["data_node"]),
        ("zk", inventory.zookeepers),
    ):
        assert names == [f"{kind}-{n}" for n in range(seen[kind]["spec"]["replicas"])]


def test_a_pod_finds_every_other_by_its_name_alone() -> None:
    names = {name for name, document in pods() if document["kind"] == "StatefulSet" and name != "client1"}
    for _, document in pods():
        searches = document["spec"]["template"]["spec"]["dnsConfig"]["searches"]
        assert {search.partition(".")[0] for search in searches} == names


def test_the_control_plane_of_compose_knows_every_host() -> None:
    services = loaded(ROOT / "compose.yaml")["services"]
    inventory = Inventory.reported(services["control"]["environment"])
    assert {f"host-{name}" for name in inventory.hosts()} == set(services) - {"control"}
    assert len(inventory.groups) == 2 and inventory.spares and len(inventory.nodes["data_node"]) == 3


def test_the_stack_has_the_services_of_compose_with_the_same_commands_and_networks() -> None:
    compose, stack = (
        loaded(ROOT / "compose.yaml")["services"],
        loaded(DEPLOY / "swarm" / "stack.yaml")["services"],
    )
    assert set(compose) == set(stack)
    for name, service in compose.items():
        for key in ("command", "networks", "read_only", "cap_drop", "cap_add"):
            assert service.get(key) == stack[name].get(key), (name, key)
    assert compose["control"]["environment"] == stack["control"]["environment"]


def test_the_image_by_itself_is_checked_as_compose_checks_it() -> None:
    (checked,) = re.findall(
        r"^HEALTHCHECK .*\\\n +CMD (.+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE
    )
    services = loaded(ROOT / "compose.yaml")["services"]
    assert {service["healthcheck"]["test"][1].replace("$$", "$") for service in services.values()} == {
        checked
    }


def test_the_log_of_every_container_is_set_in_one_place() -> None:
    """An empty value would count as a chosen form, so there are defaults."""
    wanted = {FORMAT: f"${{{FORMAT}:-text}}", LEVEL: f"${{{LEVEL}:-info}}"}
    for path in (ROOT / "compose.yaml", DEPLOY / "swarm" / "stack.yaml"):
        for name, service in loaded(path)["services"].items():
            assert wanted.items() <= service["environment"].items(), (path.name, name)
    (generated,) = loaded(DEPLOY / "kubernetes" / "kustomization.yaml")["configMapGenerator"]
    assert generated["literals"] == [f"{FORMAT}=text", f"{LEVEL}=info"]
    for name, document in pods():
        (container,) = document["spec"]["template"]["spec"]["containers"]
        assert {"configMapRef": {"name": generated["name"]}} in container["envFrom"], name


def test_the_stack_opens_no_port_to_the_network() -> None:
    for name, service in loaded(DEPLOY / "swarm" / "stack.yaml")["services"].items():
        assert "ports" not in service, name


def test_the_ensemble_and_the_servers_are_spread_over_three_machines() -> None:
    stack = loaded(DEPLOY / "swarm" / "stack.yaml")["services"]

    def machine(name: str) -> str:
        return str(stack[name]["deploy"]["placement"]["constraints"])

    assert len({machine(f"host-zk{n}") for n in (1, 2, 3)}) == 3
    for group in Inventory.reported(stack["control"]["environment"]).groups:
        assert len({machine(f"host-{name}") for name in group}) == 3
    assert len({machine(f"host-dn{n}") for n in (1, 2, 3)}) == 3


def test_every_metric_that_is_watched_is_reported_somewhere() -> None:
    code = (ROOT / "backend" / "metrics.py").read_text() + (
        ROOT / "nodes" / "supervisor" / "metrics.py"
    ).read_text()
    reported = set(METRIC.findall(code))
    reported |= {f"{name}_total" for name in reported}
    for path in (DEPLOY / "grafana" / "cloverlab.json", DEPLOY / "prometheus" / "rules.yml"):
        used = set(METRIC.findall(path.read_text()))
        assert used and used <= reported, (path.name, used - reported)
    json.loads((DEPLOY / "grafana" / "cloverlab.json").read_text())


def test_prometheus_asks_every_container() -> None:
    reported = loaded(DEPLOY / "prometheus" / "prometheus.yml")["scrape_configs"][0]["static_configs"][0][
        "targets"
    ]
    hosts = [name.removeprefix("host-") for name in loaded(ROOT / "compose.yaml")["services"]]
    assert sorted(target.partition(":")[0].removesuffix(".control") for target in reported) == sorted(hosts)
