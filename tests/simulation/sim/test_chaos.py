"""A group survives chaos: whatever is drawn, it serves again once the faults are undone."""

from __future__ import annotations

import pytest

from nodes.config import SECOND, one_group
from nodes.faults.check import FaultUnsupported
from nodes.faults.table import BY_NAME
from nodes.metadata.operations import Mkdir
from nodes.sim.cluster import SimCluster
from nodes.trace.events import FaultInjected


@pytest.mark.parametrize("protocol", ["mams", "packed-paxos", "symmetric"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_group_serves_after_chaos(protocol: str, seed: int) -> None:
    cluster = SimCluster(one_group(4, protocol=protocol), seed)
    cluster.run_until(cluster.settled, 60 * SECOND)
    for _ in range(40):
        cluster.faults.do("chaos", ["g1"])
        cluster.run_for(SECOND)
    verbs = {stamped.event.verb for stamped in cluster.events if type(stamped.event) is FaultInjected}
    assert len(verbs) > 5
    for verb, targets in list(cluster.faults.standing.values()):
        undo = BY_NAME[verb].undo
        assert undo is not None
        cluster.faults.do(undo.verb, targets, undo.options)
    for name, server in cluster.servers.items():
        if server.process == "stopped":
            cluster.faults.do("restart", [name])
    cluster.run_until(cluster.settled, 120 * SECOND)
    cluster.start_client("ada").call(Mkdir("/after"))


def test_of_one_server_it_breaks_and_mends_in_turn() -> None:
    cluster = SimCluster(one_group(0, protocol="single"), 1)
    cluster.run_until(cluster.settled, 60 * SECOND)
    for _ in range(10):
        began = not cluster.faults.standing
        cluster.faults.do("chaos", ["g1"])
        assert bool(cluster.faults.standing) == began
        cluster.run_for(SECOND)


def test_it_is_refused_for_a_server() -> None:
    cluster = SimCluster(one_group(1), 1)
    with pytest.raises(FaultUnsupported, match="group"):
        cluster.faults.do("chaos", ["mds1"])
