"""Seed, configuration and inputs determine the events of a simulated cluster, however it is advanced."""

from pathlib import Path

import msgspec
import pytest

from backend.errors import LabError
from backend.fabrics.watched_cluster import GENTLE
from backend.shape import Shape, new_config
from backend.simulated import inputs
from backend.simulated.cluster import CONSOLE, OBSERVING, VirtualCluster, replayed
from backend.simulated.inputs import ClusterOrigin, Input, InputLog, read_log
from nodes.config import MILLISECOND, SECOND
from nodes.families import FAMILIES
from nodes.metadata.operations import Create, Mkdir
from nodes.trace.events import Called, Stamped

LIGHT = msgspec.structs.replace(GENTLE, rate_per_s=10.0)
SCHEDULE: list[tuple[int, Input]] = [
    (1_500, inputs.CallOperation(Mkdir("/mine"))),
    (1_503, inputs.InjectFault("delay", ["mds1", "mds2"], {"ms": 20})),
    (1_600, inputs.ThrottleWorkload(30.0, None)),
    (2_000, inputs.InjectFault("crash", ["mds1"], {})),
    (2_000, inputs.CallOperation(Create("/mine/a"))),
    (2_100, inputs.InjectFault("reorder", ["mds2"], {"share": 0.5})),
    (5_000, inputs.InjectFault("restart", ["mds1"], {})),
    (5_001, inputs.AskServer("mds2", {"do": "counters"}, SECOND)),
    (5_500, inputs.PutContent("/mine/f", b"x" * 5_000, 512)),
    (5_600, inputs.InjectFault("crash", ["mds1"], {"nonsense": 1})),
    (5_700, inputs.InjectFault("crash", ["client1"], {})),
    (5_800, inputs.InjectFault("restart", ["client1"], {})),
    (6_000, inputs.ReplaceWorkload(msgspec.structs.replace(LIGHT, clients=2))),
    (6_100, inputs.ChangeClock("play", 10.0)),
    (6_500, inputs.GetContent("/mine/f", 0, 100_000)),
]
END_NS = 7 * SECOND


def lived(
    origin: ClusterOrigin, log: InputLog | None, slice_ns: int, observes: bool = False
) -> list[Stamped]:
    """The events of a cluster that is advanced in slices of this length."""
    cluster, found, ahead = VirtualCluster(origin, log), list[Stamped](), list(SCHEDULE)
    while cluster.now_ns < END_NS:
        until = min([cluster.now_ns + slice_ns, END_NS, *[at * MILLISECOND for at, _ in ahead[:1]]])
        cluster.advance(until)
        while ahead and ahead[0][0] * MILLISECOND == cluster.now_ns:
            try:
                cluster.apply(ahead.pop(0)[1])
            except LabError:
                pass
        if observes:
            observe(cluster)
        found += cluster.take_events()
        assert not cluster.sim.events
    return found


def observe(cluster: VirtualCluster) -> None:
    """Everything that the control plane reads from time to time."""
    cluster.states(), cluster.roles(), cluster.tree()
    for server, state in cluster.states().items():
        for question in sorted(OBSERVING):
            if state == "running" and server in cluster.sim.servers:
                try:
                    cluster.observe(server, {"do": question, "on": True, "sn": 1})
                except LabError:
                    pass


def encoded(events: list[Stamped]) -> list[bytes]:
    return [msgspec.msgpack.encode(stamped) for stamped in events]


@pytest.mark.parametrize("protocol", list(FAMILIES))
def test_a_replay_of_the_input_log_gives_the_same_events(protocol: str, tmp_path: Path) -> None:
    origin = ClusterOrigin(new_config(Shape(protocol=protocol), "c"), 11, LIGHT)
    log = InputLog(tmp_path / "1.jsonl", origin)
    first = lived(origin, log, 27_777_777, observes=True)
    log.close()
    found, entries = read_log(tmp_path / "1.jsonl")
    assert found == origin and len(entries) == len(SCHEDULE)
    assert encoded(replayed(found, entries, END_NS)) == encoded(first)
    assert len(first) > 100


def test_how_it_is_advanced_changes_nothing() -> None:
    origin = ClusterOrigin(new_config(Shape(), "c"), 3, LIGHT)
    slowly = encoded(lived(origin, None, 5 * MILLISECOND))
    assert slowly == encoded(lived(origin, None, SECOND, observes=True))
    other = ClusterOrigin(origin.cluster, 4, LIGHT)
    assert slowly != encoded(lived(other, None, SECOND))


def test_a_stop_by_a_condition_is_a_stop_at_an_instant() -> None:
    origin = ClusterOrigin(new_config(Shape(), "c"), 3, LIGHT)
    stepped, found = VirtualCluster(origin), list[Stamped]()
    while stepped.now_ns < 3 * SECOND:
        stepped.advance(3 * SECOND, lambda: bool(stepped.sim.events))
        found += stepped.take_events()
    whole = VirtualCluster(origin)
    whole.advance(3 * SECOND)
    assert encoded(found) == encoded(whole.take_events())


def test_the_clients_calls_are_events_like_those_of_others() -> None:
    origin = ClusterOrigin(new_config(Shape(), "c"), 3, LIGHT)
    callers = {stamped.server for stamped in lived(origin, None, SECOND) if isinstance(stamped.event, Called)}
    assert callers == {"client1", CONSOLE}
