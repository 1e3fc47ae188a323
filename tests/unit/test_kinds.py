"""Every row of the table of kinds names a server that starts, and numbers that its event has."""

from __future__ import annotations

from importlib import import_module

import pytest

from backend.vocabulary import lanes
from nodes.config import ClusterConfig, JournalConfig
from nodes.families import FAMILIES, family_named
from nodes.faults.table import NODES
from nodes.kinds import KINDS, ProcessKind


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_a_row_names_what_exists(kind: ProcessKind) -> None:
    assert callable(import_module(kind.server).start)
    assert {column.field for column in kind.columns} <= set(kind.reports.__struct_fields__)
    assert not kind.part or kind.part in ClusterConfig.__struct_fields__
    assert kind.name in NODES


@pytest.mark.parametrize("protocol", FAMILIES)
def test_no_two_kinds_of_a_family_share_a_name(protocol: str) -> None:
    names = [name for kind in KINDS.values() for name in kind.named(family_named(protocol), kind.most)]
    assert len(names) == len(set(names))


def test_a_lane_is_in_the_words_of_its_family() -> None:
    def shown(protocol: str) -> list[tuple[str, list[str]]]:
        journal = JournalConfig(family_named(protocol).journal_names())
        found = lanes(ClusterConfig(protocol=protocol, journal=journal))
        return [(lane.label, [column.label for column in lane.columns]) for lane in found]

    assert shown("mams") == []
    assert shown("qjm") == [("journal node", ["sn", "epoch"])]
    assert shown("bookkeeper") == [("bookie", ["sn", "ledger"])]
    assert shown("avatar") == [("filer", ["sn", "epoch"])]
