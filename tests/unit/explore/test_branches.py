"""Branches are measured in all code that runs inside a server or a client."""

from __future__ import annotations

from backend.explore.campaign import family_of_turn
from nodes.config import JournalConfig, one_group
from nodes.explore.branches import EVERY, MEASURED, NODES
from nodes.explore.draw import SAFE, draw
from nodes.explore.plan import Caller, Plan
from nodes.explore.trial import run
from nodes.families import family_named

INSTRUMENTS = (
    "backup", "coordination", "dump", "explore", "faults", "grading", "invariants", "real", "sim", "supervisor", "trace", "wire",
    "workloads",
)  # fmt: skip
"""Packages of worlds, tests and messages, without a decision of a protocol."""


def test_every_package_is_measured_or_an_instrument() -> None:
    packages = {path.parent.name for path in NODES.glob("*/__init__.py")}
    assert packages == {*MEASURED, *INSTRUMENTS}


def test_each_family_is_measured_with_each_kind_of_detection() -> None:
    measured = [draw(seed, SAFE[family_of_turn(seed - 1, len(SAFE))]) for seed in range(EVERY, 5_001, EVERY)]
    drawn = {(plan.cluster.protocol, plan.cluster.detection) for plan in measured}
    granting = {name for name in SAFE if not family_named(name).cannot_grant}
    assert drawn == {(name, "session") for name in SAFE} | {(name, "members") for name in granting}


def test_a_measured_trial_reaches_servers_and_clients() -> None:
    cluster = one_group(1, protocol="qjm", journal=JournalConfig(["jn1", "jn2", "jn3"]))
    outcome = run(Plan(EVERY, cluster, callers=[Caller("c1", ["create /a", "stat /a"])], span_ms=1_000))
    modules = {feature.partition(":")[0] for feature in outcome.coverage}
    assert {"metadata/plans.py", "metadata_server/writer.py", "servers/journal_node.py"} <= modules
    assert {"client/smart_client.py", "storage/journal_file.py", "replicas/log.py"} <= modules
