"""Branches are measured in all code that runs inside a server or a client."""

from __future__ import annotations

from nodes.config import JournalConfig, one_group
from nodes.explore.branches import EVERY, MEASURED, NODES
from nodes.explore.plan import Caller, Plan
from nodes.explore.trial import run

INSTRUMENTS = (
    "backup", "coordination", "dump", "explore", "faults", "grading", "invariants", "real", "sim", "supervisor", "trace", "wire",
    "workloads",
)  # fmt: skip
"""Packages of worlds, tests and messages, without a decision of a protocol."""


def test_every_package_is_measured_or_an_instrument() -> None:
    packages = {path.parent.name for path in NODES.glob("*/__init__.py")}
    assert packages == {*MEASURED, *INSTRUMENTS}


def test_a_measured_trial_reaches_servers_and_clients() -> None:
    cluster = one_group(1, protocol="qjm", journal=JournalConfig(["jn1", "jn2", "jn3"]))
    outcome = run(Plan(EVERY, cluster, callers=[Caller("c1", ["create /a", "stat /a"])], span_ms=1_000))
    modules = {feature.partition(":")[0] for feature in outcome.coverage}
    assert {"metadata/plans.py", "metadata_server/writer.py", "servers/journal_node.py"} <= modules
    assert {"client/smart_client.py", "storage/journal_file.py", "replicas/log.py"} <= modules
