"""The tree of a simulated cluster: owners, watches, and why its lock moved."""

from backend.coordination.changes import newest_changes
from backend.coordination.tree import view
from backend.shape import Shape, new_config
from backend.simulated import inputs
from backend.simulated.cluster import VirtualCluster
from backend.simulated.inputs import ClusterOrigin
from nodes.config import SECOND
from nodes.trace.prose import sentence

LOCK = "/cloverlab/groups/g1/lock"


def holder(cluster: VirtualCluster) -> str:
    nodes = view(cluster.tree(), cluster.sessions())["nodes"]
    return next(str(node["owner"]) for node in nodes if node["path"] == LOCK)


def test_every_member_watches_the_lock_and_the_fault_that_moved_it_is_known() -> None:
    cluster = VirtualCluster(ClusterOrigin(new_config(Shape(), "c"), 7, None))
    cluster.advance(2 * SECOND)
    seen = view(cluster.tree(), cluster.sessions())
    assert seen["watches_known"]
    of_servers = [each for each in seen["sessions"] if each["server"]]
    assert len(of_servers) == 4 and all(each["connected"] and each["timeout_ms"] for each in of_servers)
    lock = next(node for node in seen["nodes"] if node["path"] == LOCK)
    assert sorted(lock["watchers"]) == [each["server"] for each in of_servers]

    before = holder(cluster)
    cluster.apply(inputs.InjectFault("take_lock", ["g1"], {}))
    cluster.advance(4 * SECOND)
    after = holder(cluster)
    assert after not in ("", before)
    changes = newest_changes(
        cluster.take_events(), lambda stamped: {"says": sentence(stamped)}, cluster.states()
    )["changes"]
    held = next(each for each in changes if each["path"] == LOCK)
    assert held["event"]["says"] == f"the lock of g1 is held by {after}"
    assert held["causes"][0]["says"] == f"fault 1: take_lock g1 {before}"
    assert any("reads the draws of g1" in each["says"] for each in held["causes"])


def test_the_session_of_a_crashed_server_is_not_connected_and_keeps_its_lock() -> None:
    cluster = VirtualCluster(ClusterOrigin(new_config(Shape(), "c"), 7, None))
    cluster.advance(2 * SECOND)
    name = holder(cluster)
    cluster.apply(inputs.InjectFault("crash", [name], {}))
    cluster.advance(cluster.now_ns + SECOND // 10)
    seen = view(cluster.tree(), cluster.sessions())
    session = next(each for each in seen["sessions"] if each["server"] == name)
    assert LOCK in session["nodes"] and not session["connected"]
