"""Files written and appended to under random faults; at the end each has the acknowledged content."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from nodes.faults.check import FaultUnsupported
from nodes.trace.events import Called
from tests.simulation.data.lab import DataLab, content

VERBS = (
    "crash",
    "power_loss",
    "pause",
    "cut",
    "slow_disk",
    "lose",
    "delay",
    "duplicate",
    "corrupt",
    "restart",
)
SIZES = (1 << 16, 1 << 18, 1 << 20)


def apply_fault(lab: DataLab, rng: Random) -> None:
    """Injects one random fault; at most two metadata servers and two data nodes are down."""
    names = rng.choice((lab.data_nodes, lab.data_nodes, list(lab.cluster.view())))
    target, verb = rng.choice(names), rng.choice(VERBS)
    away = [name for name in names if lab.cluster.servers[name].process != "running"]
    if verb in ("crash", "power_loss", "pause") and len(away) >= 1:
        verb, target = "restart", away[0]
        if lab.cluster.servers[target].process == "paused":
            verb = "resume"
    options: dict[str, Any] = {
        "slow_disk": {"ms": rng.choice((0, 30))}, "lose": {"share": 0.05}, "delay": {"ms": 40},
        "duplicate": {"share": 0.1}, "corrupt": {"what": "block"},
    }.get(verb, {})  # fmt: skip
    if verb == "corrupt" and target not in lab.data_nodes:
        return
    try:
        lab.faults.do(verb, [target], options)
    except FaultUnsupported:
        return
    if verb in ("cut", "lose", "delay", "duplicate"):
        lab.run_ms(rng.randrange(100, 2_000))
        lab.faults.heal(target)


def run(seed: int) -> tuple[DataLab, dict[str, bytes]]:
    rng = Random(seed)
    lab = DataLab(seed, nodes=5)
    lab.pace_ms = 150
    tasks: dict[str, asyncio.Task[int]] = {}
    wanted: dict[str, bytes] = {}
    for number in range(5):
        path = f"/f{number}"
        wanted[path] = content(seed * 10 + number, rng.randrange(1, 900_000))
        tasks[path] = lab.begin_put(path, wanted[path], block_size=rng.choice(SIZES))
        for _ in range(rng.randrange(6)):
            lab.run_ms(rng.randrange(0, 500))
            apply_fault(lab, rng)
    lab.mend()
    lab.until(lambda: all(task.done() for task in tasks.values()))
    assert [task.result() for task in tasks.values()] == [len(data) for data in wanted.values()]
    return lab, wanted


@pytest.mark.parametrize("seed", range(12))
def test_random_faults(seed: int) -> None:
    lab, wanted = run(seed)
    assert {path: lab.get(path) == data for path, data in wanted.items()} == dict.fromkeys(wanted, True)
    lab.until(lambda: set(lab.counts()) == {3})
    assert any(type(stamped.event) is Called for stamped in lab.cluster.events)
    for path, data in wanted.items():
        assert lab.get(path) == data
