"""Nodes of the view whose content no server understands: servers warn and wait, none exits, and service continues once the content is back."""

from __future__ import annotations

import pytest

from nodes.coordination.operations import SetData
from nodes.coordination.tree import OPERATOR
from nodes.trace.events import Stopped, Warned
from tests.simulation.mams.lab import Lab
from tests.simulation.sim.test_bad_input import good, lab_of, leader_of

GROUP = "/cloverlab/groups/g1"
NODES = (
    "epoch",
    "lock",
    "configuration",
    "view/LEADER",
    "view/OTHER",
    "confirmations/OTHER",
    "servers/OTHER",
)


def path_of(lab: Lab, node: str) -> str:
    leader = leader_of(lab)
    other = next(name for name in sorted(lab.cluster.view()) if name != leader)
    named = node.replace("LEADER", leader).replace("OTHER", other)
    return f"/cloverlab/{named}" if named.startswith("servers/") else f"{GROUP}/{named}"


def put(lab: Lab, path: str, data: bytes) -> None:
    assert lab.cluster.ensemble.submit(OPERATOR, SetData(path, data)).code == 0


@pytest.mark.parametrize("content", [b"\xff", b"[]", b'{"epoch": "one", "active": ""}', b""])
def test_any_content_of_the_epoch_is_waited_for(content: bytes) -> None:
    goes_on("mams", "epoch", content)


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("protocol", ["mams", "packed-paxos", "symmetric", "qjm", "bookkeeper", "2pc"])
def test_a_node_that_is_not_understood_ends_no_server(protocol: str, node: str) -> None:
    goes_on(protocol, node, b"?")


def goes_on(protocol: str, node: str, content: bytes) -> None:
    """The leader is lost while the node is not understood. The node returns, and service with it."""
    lab = lab_of(protocol)
    path, leader, nodes = path_of(lab, node), leader_of(lab), lab.cluster.ensemble.tree.nodes
    if path not in nodes:
        pytest.skip(f"{protocol} has no {node}")
    whole = nodes[path].data
    put(lab, path, content)
    lab.run_ms(1_000)
    lab.faults.crash(leader)
    lab.run_ms(6_000)
    assert [each.event for each in lab.cluster.events if type(each.event) is Stopped] == []
    if path in nodes and nodes[path].data == content:
        put(lab, path, whole)
    lab.run_ms(2_000)
    good(lab, "/after")


def test_the_warning_names_the_node_once() -> None:
    lab = lab_of("2pc")
    put(lab, f"{GROUP}/epoch", b"?")
    lab.run_ms(3_000)
    warned = [each.event.what for each in lab.cluster.events if type(each.event) is Warned]
    named = [what for what in warned if "epoch has a content that is not understood" in what]
    assert 1 <= len(named) <= len(lab.cluster.view())
