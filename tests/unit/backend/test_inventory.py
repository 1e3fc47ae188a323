"""What the environment tells of containers, and what a cluster's directory makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.containers import shape_of
from backend.errors import CannotStart
from backend.fabrics.home import Home
from backend.fabrics.inventory import Inventory

TOLD = {
    "CLOVERLAB_GROUPS": "mds1 mds2, mds3",
    "CLOVERLAB_SPARES": "mds4",
    "CLOVERLAB_DATA_NODES": "dn1 dn2",
    "CLOVERLAB_ZOOKEEPERS": "zk1",
}


def test_groups_spares_and_data_nodes_are_told_apart() -> None:
    told = Inventory.told(TOLD)
    assert told.groups == [["mds1", "mds2"], ["mds3"]] and told.servers() == ["mds1", "mds2", "mds3", "mds4"]
    assert told.hosts() == ["zk1", "mds1", "mds2", "mds3", "mds4", "dn1", "dn2", "client1"]
    assert told.supervisor_of("dn1") == ("dn1.control", 7700)


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("CLOVERLAB_GROUPS", "", "CLOVERLAB_GROUPS names the servers of each group"),
        ("CLOVERLAB_GROUPS", "mds1 mds2,", "CLOVERLAB_GROUPS names the servers of each group"),
        ("CLOVERLAB_ZOOKEEPERS", " ", "CLOVERLAB_ZOOKEEPERS one server at least"),
        ("CLOVERLAB_SPARES", "mds3", "mds3 is named twice"),
        ("CLOVERLAB_DATA_NODES", "dn1 client1", "client1 is named twice"),
        ("CLOVERLAB_SUPERVISOR", "here", "is like"),
    ],
)
def test_what_is_missing_or_double_is_said_in_one_line(variable: str, value: str, said: str) -> None:
    with pytest.raises(CannotStart) as wrong:
        Inventory.told({**TOLD, variable: value})
    assert said in wrong.value.message and "\n" not in wrong.value.message


def test_the_cluster_has_the_groups_and_data_nodes_of_the_containers(tmp_path: Path) -> None:
    shape = shape_of(Inventory.told(TOLD))
    home = Home.open(tmp_path, shape)
    assert home.servers() == {"mds1": "g1", "mds2": "g1", "mds3": "g2"} and home.data_nodes() == [
        "dn1",
        "dn2",
    ]
    home.close()
    Home.open(tmp_path, shape).close()


def test_a_cluster_of_other_groups_is_refused_in_one_line_and_left_alone(tmp_path: Path) -> None:
    Home.open(tmp_path, shape_of(Inventory.told(TOLD))).close()
    before = (tmp_path / "cluster.json").read_bytes()
    for other in (
        {"CLOVERLAB_GROUPS": "mds1 mds2 mds3"},
        {"CLOVERLAB_DATA_NODES": ""},
        {"CLOVERLAB_SPARES": "", "CLOVERLAB_GROUPS": "mds1 mds2, mds3 mds4"},
    ):
        with pytest.raises(
            CannotStart, match=r"has a cluster of the groups mds1 mds2, mds3 and .* dn1 dn2, not of"
        ):
            Home.open(tmp_path, shape_of(Inventory.told({**TOLD, **other})))
    assert (tmp_path / "cluster.json").read_bytes() == before
