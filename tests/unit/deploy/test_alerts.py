"""The alert rules fire for every family when they should, and only then; Prometheus itself judges them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from nodes.roles import BEHIND, IN_STEP, SERVING

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
RULES = DEPLOY / "prometheus" / "rules.yml"
GRAFANA = DEPLOY / "grafana" / "cloverlab.json"
FAMILIES = {
    "mams": ["active", "standby", "standby"],
    "paxos": ["primary", "secondary", "secondary"],
    "symmetric": ["member", "member", "member"],
    "single": ["active"],
}
Values = list[float]
MINUTES = 10


@pytest.fixture
def promtool() -> str:
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("no promtool on this machine: it is in the Debian package prometheus")
    return found


def run(promtool: str, *words: str) -> str:
    done = subprocess.run([promtool, *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def series(name: str, value: float, **labels: str) -> dict[str, str]:
    pairs = ",".join(f'{label}="{text}"' for label, text in labels.items())
    return {"series": f"{name}{{{pairs}}}", "values": f"{value:g}x{MINUTES}"}


def group(roles: list[str]) -> list[dict[str, str]]:
    """What the control plane reports of a group."""
    found = []
    for number, role in enumerate(roles, 1):
        server = f"mds{number}"
        found.append(series("cloverlab_server_up", float(role != "down"), server=server, group="g1"))
        for each in (*IN_STEP, *BEHIND, "down"):
            found.append(
                series("cloverlab_server_role", float(role == each), server=server, group="g1", role=each)
            )
    return found


def ensemble(roles: list[str]) -> list[dict[str, str]]:
    return [
        series("cloverlab_zookeeper_role", float(role == each), server=f"zk{number}", role=each)
        for number, role in enumerate(roles, 1)
        for each in ("leader", "follower", "looking", "down")
    ]


def fired(promtool: str, directory: Path, given: list[dict[str, str]]) -> set[str]:
    """The alerts of a cluster that has been like this for ten minutes."""
    alerts = re.findall(r"alert: (\w+)", RULES.read_text())
    found = set()
    for alert in alerts:
        rules = directory / "rules.yml"
        rules.write_text(RULES.read_text())
        case: dict[str, Any] = {
            "interval": "1m",
            "input_series": given,
            "alert_rule_test": [{"eval_time": f"{MINUTES}m", "alertname": alert, "exp_alerts": []}],
        }
        tests = directory / "tests.yml"
        tests.write_text(
            json.dumps({"rule_files": [str(rules)], "evaluation_interval": "10s", "tests": [case]})
        )
        done = subprocess.run(
            [promtool, "test", "rules", str(tests)], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0 or f"alertname: {alert}" in done.stdout + done.stderr, done.stderr
        if done.returncode:
            found.add(alert)
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_a_whole_cluster_of_every_family_is_silent(promtool: str, tmp_path: Path, family: str) -> None:
    whole = [*group(FAMILIES[family]), *ensemble(["leader", "follower", "follower"])]
    assert fired(promtool, tmp_path, whole) == set()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_group_that_no_server_serves_is_reported(promtool: str, tmp_path: Path, family: str) -> None:
    left = ["down" if role in SERVING else role for role in FAMILIES[family]]
    assert fired(promtool, tmp_path, group(left)) == {"CloverlabNoActive", "CloverlabOutOfStep"}


@pytest.mark.parametrize("family", ["mams", "paxos", "symmetric"])
def test_a_server_out_of_step_is_reported(promtool: str, tmp_path: Path, family: str) -> None:
    behind = "joining" if family == "symmetric" else "junior"
    assert fired(promtool, tmp_path, group([*FAMILIES[family][:-1], behind])) == {"CloverlabOutOfStep"}


@pytest.mark.parametrize(
    ("roles", "quorum"),
    [
        (["leader", "follower", "down"], True),
        (["down", "follower", "down"], False),
        (["down", "down", "down"], False),
        (["looking", "looking", "down"], False),
    ],
)
def test_an_ensemble_without_a_quorum_is_reported(
    promtool: str, tmp_path: Path, roles: list[str], quorum: bool
) -> None:
    assert fired(promtool, tmp_path, ensemble(roles)) == (set() if quorum else {"CloverlabNoQuorum"})


def test_other_alerts_fire(promtool: str, tmp_path: Path) -> None:
    bad = [
        series("cloverlab_invariant_broken", 1, invariant="one active"),
        series("cloverlab_process_up", 0, server="mds1", kind="server"),
        series("cloverlab_process_starts_total", 2, server="mds1", kind="server"),
        series("cloverlab_volume_free_bytes", 1000, server="mds1", kind="server"),
    ]
    expected = {"CloverlabInvariantBroken", "CloverlabProcessDown", "CloverlabVolumeFull"}
    assert fired(promtool, tmp_path, bad) == expected


def test_prometheus_accepts_the_rules_and_the_queries_of_the_dashboard(promtool: str, tmp_path: Path) -> None:
    run(promtool, "check", "rules", str(RULES))
    queries = re.findall(r'"expr": ("(?:[^"\\]|\\.)*")', GRAFANA.read_text())
    assert len(queries) >= 10
    rules = [{"record": f"query{number}", "expr": json.loads(text)} for number, text in enumerate(queries)]
    file = tmp_path / "queries.yml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    assert f"{len(queries)} rules found" in run(promtool, "check", "rules", str(file))
