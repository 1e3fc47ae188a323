"""Containers from the environment, and their use in a cluster's directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from backend.containers import protocol_of, shape_of
from backend.errors import ClusterCannotStart, Malformed
from backend.fabrics.home import Home
from backend.fabrics.inventory import Inventory
from backend.hosts import COMPOSE_FILE
from nodes.families import FAMILIES

REPORTED = {
    "CLOVERLAB_GROUPS": "mds1 mds2, mds3",
    "CLOVERLAB_SPARES": "mds4",
    "CLOVERLAB_DATA_NODES": "dn1 dn2",
    "CLOVERLAB_ZOOKEEPERS": "zk1",
}


def test_groups_spares_and_data_nodes_are_reported_apart() -> None:
    reported = Inventory.reported(REPORTED)
    assert reported.groups == [["mds1", "mds2"], ["mds3"]] and reported.servers() == [
        "mds1",
        "mds2",
        "mds3",
        "mds4",
    ]
    assert reported.hosts() == ["zk1", "mds1", "mds2", "mds3", "mds4", "dn1", "dn2", "client1"]
    assert reported.supervisor_of("dn1") == ("dn1.control", 7700)


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
    with pytest.raises(ClusterCannotStart) as wrong:
        Inventory.reported({**REPORTED, variable: value})
    assert said in wrong.value.message and "\n" not in wrong.value.message


COMPOSED = YAML(typ="safe", pure=True).load(COMPOSE_FILE.read_text())["services"]["control"]["environment"]


@pytest.mark.parametrize("protocol", FAMILIES)
def test_every_family_finds_its_hosts_in_compose_yaml(tmp_path: Path, protocol: str) -> None:
    reported = Inventory.reported(COMPOSED)
    ours = reported.of_family(protocol)
    assert sorted(ours.hosts()) == sorted(reported.hosts())
    home = Home.open(tmp_path, shape_of(ours, protocol))
    assert list(home.servers()) == [name for group in ours.groups for name in group]
    assert (
        [name for name in home.nodes() if name not in reported.nodes["data_node"]]
        == FAMILIES[protocol].journal_names()
        == list(ours.carried)
    )
    assert protocol_of({}, tmp_path) == protocol
    home.close()


def test_one_group_and_one_server_are_what_some_families_run() -> None:
    reported = Inventory.reported(COMPOSED)
    assert reported.of_family("mams") == reported
    assert reported.of_family("single").groups == [["mds1"], ["mds5"]]
    symmetric = reported.of_family("symmetric")
    assert symmetric.groups == [["mds1", "mds2", "mds3", "mds4"]]
    assert symmetric.spares == ["mds5", "mds6", "mds7", "mds8"]


def test_journal_nodes_are_carried_by_the_first_hosts_that_are_free() -> None:
    qjm = Inventory.reported(COMPOSED).of_family("qjm")
    assert qjm.carried == {"jn1": "mds5", "jn2": "mds6", "jn3": "mds7"} and qjm.spares == ["mds8"]
    assert qjm.supervisor_of("jn1") == ("mds5.control", 7700) and qjm.data_address("jn1") == "mds5:7000"
    with pytest.raises(
        ClusterCannotStart, match=r"bookie1, .* need a container each, and beside the servers' there are 2"
    ):
        Inventory.reported(REPORTED).of_family("bookkeeper")


def test_an_unknown_family_is_refused_in_one_line_that_lists_them(tmp_path: Path) -> None:
    protocol = protocol_of({"CLOVERLAB_PROTOCOL": "symetric"}, tmp_path)
    with pytest.raises(Malformed) as wrong:
        Inventory.reported(COMPOSED).of_family(protocol)
    assert all(name in wrong.value.message for name in FAMILIES) and "\n" not in wrong.value.message


def test_volumes_of_another_family_are_refused_in_one_line(tmp_path: Path) -> None:
    reported = Inventory.reported(COMPOSED)
    Home.open(tmp_path, shape_of(reported.of_family("symmetric"), "symmetric")).close()
    with pytest.raises(
        ClusterCannotStart, match=r"has a cluster with protocol symmetric, not qjm; .*down -v"
    ):
        Home.open(tmp_path, shape_of(reported.of_family("qjm"), "qjm"))


def test_the_cluster_has_the_groups_and_data_nodes_of_the_containers(tmp_path: Path) -> None:
    shape = shape_of(Inventory.reported(REPORTED), "mams")
    home = Home.open(tmp_path, shape)
    assert home.servers() == {"mds1": "g1", "mds2": "g1", "mds3": "g2"} and list(home.nodes()) == [
        "dn1",
        "dn2",
    ]
    home.close()
    Home.open(tmp_path, shape).close()


def test_a_cluster_of_other_groups_is_refused_in_one_line_and_left_alone(tmp_path: Path) -> None:
    Home.open(tmp_path, shape_of(Inventory.reported(REPORTED), "mams")).close()
    before = (tmp_path / "cluster.json").read_bytes()
    for other in (
        {"CLOVERLAB_GROUPS": "mds1 mds2 mds3"},
        {"CLOVERLAB_DATA_NODES": ""},
        {"CLOVERLAB_SPARES": "", "CLOVERLAB_GROUPS": "mds1 mds2, mds3 mds4"},
    ):
        with pytest.raises(
            ClusterCannotStart, match=r"has a cluster of the groups mds1 mds2, mds3 and .* dn1 dn2, not of"
        ):
            Home.open(tmp_path, shape_of(Inventory.reported({**REPORTED, **other}), "mams"))
    assert (tmp_path / "cluster.json").read_bytes() == before
