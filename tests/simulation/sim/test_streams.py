"""Every link, disk and server has a random stream of its own: leaving one out does not change the others."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from nodes.config import SECOND, WorkloadConfig, one_group
from nodes.sim.cluster import SimCluster
from nodes.sim.conditions import CALM, BadConditions, Conditions, Latency
from nodes.sim.disk import MediumStore
from nodes.sim.links import Links
from nodes.sim.loop import Loop, Machine
from nodes.trace.events import Called


def latencies(links: Links, sender: str, receiver: str, count: int = 20) -> list[int]:
    link = links.of(sender, receiver)
    return [link.arrival_ns(place * SECOND) - place * SECOND for place in range(count)]


def test_a_link_does_not_notice_what_another_draws() -> None:
    alone = latencies(Links(random.Random(7)), "a", "b")
    links = Links(random.Random(7))
    latencies(links, "b", "a", 3)
    latencies(links, "a", "c", 50)
    assert latencies(links, "a", "b") == alone
    assert latencies(Links(random.Random(8)), "a", "b") != alone


def test_losses_do_not_shift_the_latencies_behind_them() -> None:
    links = Links(random.Random(7))
    alone = latencies(links, "a", "b")
    link = Links(random.Random(7)).of("a", "b")
    link.lose = 0.5
    for _ in range(100):
        link.chance.random()
    assert [link.arrival_ns(place * SECOND) - place * SECOND for place in range(20)] == alone


def order(names: str, at_ns: int) -> list[str]:
    loop, ran = Loop(random.Random(3)), []
    for name in names:
        loop.at(at_ns, Machine(loop, name).call, ran.append, name)
    loop.run(at_ns)
    return ran


def test_who_runs_next_does_not_depend_on_who_else_is_there() -> None:
    everybody = order("abcdefgh", 5)
    assert order("hgfedcba", 5) == everybody
    assert order("aceg", 5) == [name for name in everybody if name in "aceg"]
    assert len({tuple(order("abcdefgh", at_ns)) for at_ns in range(20)}) > 15


def calls_of(cluster: SimCluster) -> list[Any]:
    cluster.run_until(5 * SECOND)
    return [(stamped.at_ns, stamped.event) for stamped in cluster.events if type(stamped.event) is Called]


def test_conditions_change_the_world_and_are_the_same_for_the_same_seed() -> None:
    work = WorkloadConfig(clients=2, rate_per_s=20)
    far = Conditions(network=Latency(20_000, 5_000, 0, 0), lose=0.01, duplicate=0.05, reorder=0.05)
    runs = [calls_of(SimCluster(one_group(), 4, work, conditions)) for conditions in (CALM, CALM, far, far)]
    assert runs[0] == runs[1] and runs[2] == runs[3]
    assert min(at_ns for at_ns, _ in runs[0]) < min(at_ns for at_ns, _ in runs[2])
    assert all(not event.error for run in runs for _, event in run)


def test_conditions_travel_as_json() -> None:
    far = Conditions(sync=Latency(9_000, 2_000, 0.1, 50_000), lose=0.1, disk_capacity=1 << 30)
    assert msgspec.json.decode(msgspec.json.encode(far), type=Conditions) == far
    assert MediumStore(random.Random(1), far).free() == 1 << 30


@pytest.mark.parametrize(
    "wrong",
    [
        Conditions(lose=1.5),
        Conditions(reorder_us=-1),
        Conditions(network=Latency(1, 1, 2, 1)),
        Conditions(sync=Latency(-1, 1, 0, 1)),
        Conditions(disk_capacity=-5),
    ],
)
def test_conditions_out_of_range_are_refused_in_one_line(wrong: Conditions) -> None:
    with pytest.raises(BadConditions) as caught:
        SimCluster(one_group(), 1, conditions=wrong)
    assert "\n" not in str(caught.value)
