"""What `docs/add-a-protocol.md` says is enough: a folder, a line in REPLICATION, a line in FAMILIES."""

from __future__ import annotations

import pytest

from backend.shape import Shape, new_config
from nodes import families, mechanisms
from nodes.config import one_group
from nodes.families import Family
from nodes.metadata.operations import Mkdir, Stat
from nodes.sim.cluster import SimCluster
from tests.simulation.baselines.toy import mechanism


def test_a_family_is_a_folder_and_two_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(mechanisms.REPLICATION, "toy", mechanism.start)
    monkeypatch.setitem(families.FAMILIES, "toy", Family("toy", "one server, in memory", standbys=0))
    assert len(new_config(Shape(protocol="toy"), "clover").groups[0].members) == 1
    cluster = SimCluster(one_group(0, protocol="toy"), 1)
    ada = cluster.start_client("ada")
    ada.call(Mkdir("/a"))
    assert ada.call(Stat("/a")).error == ""
