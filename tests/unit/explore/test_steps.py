"""Triggers of faults name existing steps and messages: a fault on a name that no server emits never happens."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import nodes
from nodes.config import ClusterConfig, DataConfig, many_groups
from nodes.explore.progress import (
    CLIENT_MESSAGES,
    CROSSING,
    OF_REPLICATION,
    STEPS,
    every_message,
    messages_of,
)
from nodes.families import FAMILIES
from nodes.mechanisms import MESSAGES

ROOT = Path(nodes.__file__).parent
PACKAGES = {
    "mams": ("protocols/mams", "replicas", "metadata_server"),
    "paxos": ("protocols/paxos", "replicas", "metadata_server"),
    "symmetric": ("protocols/symmetric", "replicas", "metadata_server"),
}


def source_of(*packages: str) -> str:
    return "\n".join(
        path.read_text() for package in packages for path in sorted((ROOT / package).rglob("*.py"))
    )


def steps_in(source: str) -> set[str]:
    """First words of every call of `step`: a procedure, or one of its steps."""
    calls = re.findall(r"(?:step\(|StepTaken\()([^()]*)", source)
    return {word for call in calls for word in re.findall(r'"([^"{}]*)"', call)}


@pytest.mark.parametrize("replication", STEPS)
def test_every_step_is_emitted_by_some_server(replication: str) -> None:
    words = steps_in(source_of(*PACKAGES.get(replication, ("protocols/baselines",))))
    for name in STEPS[replication]:
        procedure, step = name.split("/")
        assert procedure in words and (step in words or not step), name


def test_every_family_has_steps() -> None:
    assert {family.replication for family in FAMILIES.values()} <= set(STEPS)


def cluster_of(protocol: str) -> ClusterConfig:
    detection: Any = "session" if FAMILIES[protocol].cannot_grant else "members"
    return many_groups(2, 1, protocol=protocol, data=DataConfig(["dn1"]), detection=detection)


def test_every_message_of_the_wire_can_be_held_or_tied_to() -> None:
    drawn = {name for protocol in FAMILIES for name in every_message(cluster_of(protocol))}
    assert drawn == {message.__name__ for message in MESSAGES}
    assert {*CLIENT_MESSAGES, *CROSSING} <= drawn


@pytest.mark.parametrize("protocol", FAMILIES)
def test_a_family_draws_no_other_familys_messages(protocol: str) -> None:
    replication = FAMILIES[protocol].replication
    own = messages_of(replication)
    others = {name for each in OF_REPLICATION for name in messages_of(each)} - {*own}
    assert own and not others & {*every_message(cluster_of(protocol))}
