"""The table of holes by replication is what the code of each replication reads."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from nodes.config import Holes
from nodes.families import FAMILIES, HOLES

NODES = Path(__file__).resolve().parents[2] / "nodes"
FOLDERS = {
    "mams": ("protocols/mams", "protocols/dcfs2", "replicas"),
    "paxos": ("protocols/paxos", "replicas"),
    "symmetric": ("protocols/symmetric",),
    "shared-qjm": ("protocols/baselines", "replicas"),
}
READ = re.compile(r"\b_?holes\.([a-z_]+)")


def read_in(folder: str) -> set[str]:
    return {name for path in (NODES / folder).rglob("*.py") for name in READ.findall(path.read_text())}


def test_a_family_names_the_switches_that_its_code_reads() -> None:
    for family in FAMILIES.values():
        replication = "shared-qjm" if family.replication.startswith("shared-") else family.replication
        read = {name for folder in FOLDERS[replication] for name in read_in(folder)}
        assert set(family.holes) == read, family.replication


def test_every_switch_is_of_some_family() -> None:
    assert {name for names in HOLES.values() for name in names} == set(Holes.__struct_fields__)
    assert not any(msgspec.to_builtins(Holes()).values())
