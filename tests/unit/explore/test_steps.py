"""Triggers of faults name existing steps and messages: a fault on a name that no server emits never happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nodes
from nodes.explore.progress import CLIENT_MESSAGES, CROSSING, JOURNAL_MESSAGES, MESSAGES, STEPS
from nodes.families import FAMILIES

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


def test_every_message_is_one_that_is_sent() -> None:
    source = source_of(".")
    names = [
        *CLIENT_MESSAGES,
        *CROSSING,
        *JOURNAL_MESSAGES,
        *(name for each in MESSAGES.values() for name in each),
    ]
    assert [name for name in names if not re.search(rf"^class {name}\(", source, re.MULTILINE)] == []
