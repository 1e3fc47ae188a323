"""Marks, recoveries and random faults while clients call: in every case all invariants hold and the namespaces agree."""

from __future__ import annotations

import random
from typing import Any

import pytest

from nodes.errors import FsError
from nodes.metadata.operations import Create, Delete, Link, Mkdir, Operation, Rename
from tests.simulation.recovery.lab import ANSWER_NS, Checkpoints

VERBS = (
    "crash",
    "power_loss",
    "cut",
    "delay",
    "take_lock",
    "mark",
    "mark",
    "mark",
    "recover",
    "restart",
    "heal",
)


def some_operation(rng: random.Random) -> Operation:
    place = f"/w{rng.randrange(3)}"
    name = f"{place}/n{rng.randrange(12)}"
    return rng.choice(
        (
            Mkdir(place),
            Mkdir(name),
            Create(name),
            Delete(name, True),
            Rename(name, f"/w{rng.randrange(3)}/m"),
            Link(name, f"/w{rng.randrange(3)}/l{rng.randrange(4)}"),
        )
    )


def step(lab: Checkpoints, rng: random.Random, asked: list[Any]) -> None:
    verb = rng.choice(VERBS)
    running = [s.name for s in lab.cluster.servers.values() if s.group and s.process == "running"]
    victim = rng.choice(running)
    if verb in ("crash", "power_loss") and len(running) > len(lab.cluster.config.groups) * 2:
        lab.cluster.faults.do(verb, [victim])
    elif verb == "cut":
        others = [name for name in running if name != victim]
        lab.cluster.faults.cut(victim, rng.choice([*others, "coordination"]))
    elif verb == "delay":
        lab.cluster.faults.delay(victim, ms=rng.randrange(1, 60))
    elif verb == "take_lock" and lab.cluster.ensemble.observer.holders.get("g1"):
        lab.cluster.faults.take_lock("g1")
    elif verb == "mark":
        asked.append(lab.begin_mark(f"c{len(asked)}", victim))
    elif verb == "recover" and asked:
        lab.begin({"do": "recover", "name": f"c{rng.randrange(len(asked))}"}, victim)
    elif verb == "restart":
        for name, server in lab.cluster.servers.items():
            if server.process == "stopped":
                lab.cluster.faults.restart(name)
    elif verb == "heal":
        lab.cluster.faults.heal_all()


def play(seed: int, groups: int, steps: int = 30) -> Checkpoints:
    rng = random.Random(f"recovery/{seed}")
    lab = Checkpoints(seed, groups, 2, placement="random", image_every=rng.choice((0, 15)))
    asked: list[Any] = []
    calls: list[Any] = []
    for _ in range(steps):
        for _ in range(rng.randrange(6)):
            calls.append(rng.choice((lab.ada, lab.eve)).spawn(some_operation(rng)))
        if rng.random() < 0.6:
            step(lab, rng, asked)
        lab.run_ms(rng.choice((1, 5, 30, 200, 1_500)))
    lab.mend()
    lab.run_ms(1_000)
    lab.settle()
    lab.cluster.run_until(lambda: all(call.done() for call in calls), 2 * ANSWER_NS + 60_000_000_000)
    for call in calls:
        assert call.exception() is None or isinstance(call.exception(), FsError)
    lab.mark("last")
    lab.call(Mkdir("/behind"))
    lab.recover("last")
    lab.call(Mkdir("/behind"))
    lab.finish()
    return lab


@pytest.mark.parametrize("seed", range(6))
def test_every_check_stays_green(seed: int) -> None:
    play(seed, 1 + seed % 3)
