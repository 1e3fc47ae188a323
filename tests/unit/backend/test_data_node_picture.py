"""Data nodes in the picture, reduced from events alone."""

from __future__ import annotations

from backend.picture import Picture
from nodes.config import DataConfig, one_group
from nodes.trace import block_events
from nodes.trace import events as e
from tests.unit.backend.story import Story


def test_a_data_node_is_no_metadata_server() -> None:
    story = Story()
    picture = Picture.of(one_group(data=DataConfig(nodes=["dn1", "dn2"])), {}, [])
    servers = list(picture.servers)
    for at_ms, (server, event) in enumerate(
        (
            ("dn1", e.Started(7, "127.0.0.1:1", 0)),
            ("dn1", block_events.NodeHolds(3, 9, 1)),
            ("dn1", e.Warned("the disk is full")),
            ("control", e.FaultInjected(1, "pause", ["dn1"], {})),
        )
    ):
        picture.apply(story(at_ms, server, event), 0)
    node = picture.nodes["dn1"]
    assert (node.process, node.pid, list(node.figures.values())) == ("paused", 7, [3, 9, 1])
    assert node.warning == "the disk is full" and node.faults == [1]
    picture.apply(story(9, "control", e.FaultEnded(1, "pause", ["dn1"])), 0)
    assert (node.process, node.faults) == ("running", [])
    picture.apply(story(10, "control", e.FaultInjected(2, "crash", ["dn1"], {})), 0)
    assert (node.process, node.pid) == ("stopped", 0)
    assert node.figures["blocks"] == 3
    picture.apply(story(11, "control", e.FaultInjected(3, "new_disk", ["dn1"], {})), 0)
    assert list(node.figures.values()) == [0, 0, 0]
    assert list(picture.servers) == servers and picture.nodes["dn2"].process == "stopped"
