"""A container that is unreachable for a while: the state of its process in the picture then, and afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from backend.fabrics.containers import ContainerFabric
from backend.fabrics.home import Home
from backend.fabrics.inventory import Inventory
from nodes.config import DataConfig, one_group
from nodes.supervisor.messages import Status
from nodes.trace.events import ProcessEnded, ProcessFound, RoleChanged, Stamped, Started

RUNS = Status(
    "mds1",
    "server",
    "clover",
    "running",
    7,
    100,
    "",
    "",
    "10.0.0.1",
    "box",
    "image",
    "",
    0,
    0,
    False,
    1 << 30,
)
GONE = "its container is gone or cannot be reached: its supervisor does not answer"


class Played:
    """A fabric whose supervisors report the states that the test sets."""

    def __init__(self, directory: Path):
        self.events: list[Stamped] = []
        config = one_group(0, data=DataConfig(nodes=["dn1"]))
        inventory = Inventory([["mds1"]], [], {"data_node": ["dn1"]}, ["zk1"], "{name}.control:7700")
        self.home = Home.make(directory, config)
        self.fabric = ContainerFabric(inventory, self.home, self.events.extend)
        self.at_ns = 0

    def says(self, name: str, status: Status | None) -> None:
        host = self.fabric.hosts[name]
        host.status, host.last = status, status or host.last
        if status is None:
            host.trouble = "its supervisor does not answer"
        self.fabric.processes.look()
        self.fabric.report_rest()

    def traces(self, name: str, event: Started | RoleChanged) -> None:
        self.at_ns += 1
        self.fabric.picture.apply(Stamped(name, 1, self.at_ns, self.at_ns, 0, event), 0)


@pytest.fixture
def played(tmp_path: Path) -> Iterator[Played]:
    async def made() -> Played:
        return Played(tmp_path)

    play = asyncio.run(made())
    yield play
    play.home.close()


def test_the_same_process_is_as_it_was_before(played: Played) -> None:
    server = played.fabric.picture.servers["mds1"]
    played.says("mds1", RUNS)
    played.traces("mds1", RoleChanged("g1", "active", 1, 0, "x"))
    played.says("mds1", None)
    assert (server.process, server.believes, server.warning) == ("stopped", "none", GONE)
    played.says("mds1", RUNS)
    assert (server.process, server.believes, server.warning, server.pid) == ("running", "active", "", 7)
    assert [type(each.event) for each in played.events] == [ProcessEnded, ProcessFound]


def test_a_process_that_has_begun_since_has_to_say_itself_what_it_is(played: Played) -> None:
    server = played.fabric.picture.servers["mds1"]
    played.says("mds1", RUNS)
    played.traces("mds1", RoleChanged("g1", "active", 1, 0, "x"))
    played.says("mds1", None)
    played.says("mds1", msgspec.structs.replace(RUNS, state="stopped", pid=0))
    assert (server.process, server.warning) == ("stopped", GONE)
    played.says("mds1", msgspec.structs.replace(RUNS, began_ns=200))
    assert (server.process, server.believes, server.warning) == ("running", "none", "")


def test_a_data_node_too_and_one_that_ended_by_itself_is_not_found(played: Played) -> None:
    node = played.fabric.picture.nodes["dn1"]
    played.says("dn1", RUNS)
    played.says("dn1", None)
    assert (node.process, node.warning) == ("stopped", GONE)
    played.says("dn1", RUNS)
    assert (node.process, node.warning) == ("running", "")
    played.says("dn1", msgspec.structs.replace(RUNS, state="stopped", pid=0, ended="signal SIGKILL"))
    assert (node.process, node.warning) == ("stopped", "signal SIGKILL")
    played.says("dn1", RUNS)
    assert not any(isinstance(each.event, ProcessFound) for each in played.events[3:])
