"""Order of a simulated server's work when messages take service time."""

from __future__ import annotations

import pytest

from nodes.config import one_group
from nodes.sim.cluster import SimCluster
from nodes.sim.service_time import ServiceTimeModel

MESSAGE_NS = 50_000


@pytest.mark.parametrize(("threads", "order"), [(None, "abcd!"), (2, "abc!d"), (1, "ab!cd")])
def test_what_waits_for_idleness_comes_behind_the_messages_that_are_ready(
    threads: int | None, order: str
) -> None:
    cluster = SimCluster(one_group(0, protocol="single"), 1)
    cluster.run_until(cluster.settled)
    server = cluster.servers["mds1"]
    assert server.machine is not None and server.world is not None
    desk = cluster.net.hosts["mds1"].desk = ServiceTimeModel(server.machine, MESSAGE_NS, threads=threads)
    done: list[tuple[str, int]] = []
    world, began_ns = server.world, cluster.now_ns

    def step(letter: str) -> None:
        done.append((letter, cluster.now_ns - began_ns))
        if letter == "a":
            world.when_idle(lambda: step("!"))

    for letter in "abcd":
        cluster.loop.run_as(server.machine, lambda letter=letter: desk.take(lambda: step(letter)))
    cluster.run_for(10 * MESSAGE_NS)
    assert "".join(letter for letter, _ in done) == order
    assert [at_ns for letter, at_ns in done if letter != "!"] == [
        MESSAGE_NS * place for place in (1, 2, 3, 4)
    ]


def test_a_desk_with_nothing_to_do_leaves_idleness_to_the_server() -> None:
    cluster = SimCluster(one_group(0, protocol="single"), 1)
    server = cluster.servers["mds1"]
    assert server.machine is not None
    assert not ServiceTimeModel(server.machine, MESSAGE_NS).when_idle(lambda: None)
