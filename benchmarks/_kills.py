"""Kills of real processes under load, with the explorer's audit: every acknowledged write is read back."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path

import msgspec

from backend.explore.process_trial import HELD_BACK_NS, default_scale, note_bugs, scaled
from backend.explore.real_stage import RealStage
from backend.explore.trial_fabric import TrialFabric
from backend.fabrics.home import Home
from backend.names import COORDINATION
from nodes.config import MILLISECOND, SECOND, ClusterConfig
from nodes.explore import audit
from nodes.explore.acknowledgements import Acknowledged
from nodes.explore.applied_groups import AppliedGroups
from nodes.explore.block_history import BlockHistory
from nodes.explore.core import disturbed_still, heal_all
from nodes.explore.draw import SAFE
from nodes.explore.draw_cluster import draw_cluster
from nodes.explore.draw_load import PROFILES, Names, draw_calls
from nodes.explore.forced_groups import ServedGroups
from nodes.explore.plan import Caller, Failure, Plan
from nodes.explore.stage import Scripted
from nodes.faults.check import FaultUnsupported
from nodes.invariants import registry
from nodes.sim.loop import Stuck

BATCH = 50
"""Rounds of one cluster; the next cluster is of another family."""
AUDIT_EVERY = 25
CALLS = 60
EVERY_US = 20_000
CALLERS = 2
VERBS = ("crash", "crash", "power_loss")


class Kills(msgspec.Struct):
    """Results of the rounds."""

    rounds: int = 0
    kills: int = 0
    """Processes that were killed while calls were open, in clusters with a clean audit."""
    calls: int = 0
    answered: int = 0
    audits: int = 0
    checked: int = 0
    families: list[str] = []
    failures: list[Failure] = []


class Batch:
    """One cluster and its rounds."""

    def __init__(self, config: ClusterConfig, stage: RealStage, rng: random.Random):
        self.config = config
        self.cluster = stage
        self.invariants = registry.start(config)
        self.served = ServedGroups(stage)
        self.applied = AppliedGroups(stage)
        self.clients: list[Scripted] = []
        self.failures: list[Failure] = []
        self.acknowledged = Acknowledged(self.invariants)
        self.block_history = BlockHistory(config.data.nodes)
        self.kills = 0
        self.audits = 0
        self.calls = 0
        self.answered = 0
        self._rng = rng
        listeners = (self.invariants, self.served, self.applied, self.acknowledged, self.block_history)
        for listener in listeners:
            stage.on_event(listener.on_event)

    def fail(self, invariant: str, place: str, explanation: str) -> None:
        self.failures.append(Failure(invariant, place, explanation))

    @property
    def patience_ns(self) -> int:
        """Time in which a whole cluster must serve again, as for a trial."""
        return 12 * self.config.timing.session_timeout_ms * MILLISECOND + 30 * SECOND

    # --- rounds ----------------------------------------------------------------------------------------------------

    def run(self, rounds: int) -> None:
        """Raises Stuck."""
        self.cluster.run_until(self.cluster.settled, 2 * self.patience_ns)
        for number in range(1, rounds + 1):
            self._round(number)
            if number % AUDIT_EVERY == 0 or number == rounds:
                self._audit()
            if self.failures or self.invariants.failures:
                return
        self._lose_all_power()
        self._audit()

    def _round(self, number: int) -> None:
        """Starts load, kills processes under it and starts them again; all of them must return to their places."""
        stage, rng = self.cluster, self._rng
        callers = [self._caller(f"w{number}{letter}", letter == "a") for letter in "abc"[:CALLERS]]
        stage.prepare(callers)
        mine: list[Scripted] = [stage.start_caller(caller) for caller in callers]
        self.clients += mine
        stage.run_until(lambda: all(client.begun for client in mine), 2 * self.patience_ns)
        for _ in range(rng.choice((1, 1, 2))):
            stage.run_for(rng.randrange(600) * MILLISECOND)
            self._kill(mine)
        stage.run_for(rng.choice((50, 500, 2_000)) * MILLISECOND)
        heal_all(stage)
        stage.run_until(lambda: stage.settled() and all(client.done for client in mine), self.patience_ns)
        for client in mine:  # An open client renews its session until the end.
            client.die()

    def _caller(self, name: str, first: bool) -> Caller:
        rng = self._rng
        profiles = [each for each in PROFILES if each != "content" or self.config.data.nodes]
        calls = draw_calls(rng, Names(rng, 4, 3), PROFILES[rng.choice(profiles)], CALLS, first)
        return Caller(name, calls, every_us=EVERY_US)

    def _kill(self, mine: list[Scripted]) -> None:
        """Kills some of the running processes; kills count only when calls were open."""
        stage, rng = self.cluster, self._rng
        under_load = not all(client.done for client in mine)
        running = [
            name
            for name, server in stage.servers.items()
            if not server.client and stage.fabric.state_of(name) == "running"
        ]
        if not running:
            return
        verb = rng.choice(VERBS)
        faulted = rng.sample(running, min(len(running), rng.choice((1, 1, 1, 2, 3, len(running)))))
        if rng.random() < 0.1:
            verb, faulted = "crash", [COORDINATION]
        with contextlib.suppress(FaultUnsupported):
            stage.faults.do(verb, faulted)
            self.kills += len(faulted) * under_load

    def _lose_all_power(self) -> None:
        stage = self.cluster
        names = [name for name, server in stage.servers.items() if not server.client]
        stage.faults.do("power_loss", names)
        stage.faults.do("restart", names)
        stage.run_for(2 * self.config.timing.session_timeout_ms * MILLISECOND)
        stage.run_until(stage.settled, self.patience_ns)

    def _audit(self) -> None:
        self.audits += 1
        audit.read_back(self)

    def finish(self) -> None:
        """Ends the invariant checks and records their failures, while the clients' records still exist."""
        self.calls = sum(client.begun for client in self.clients)
        self.answered = sum(client.answered for client in self.clients)
        self.invariants.finish()
        for each in self.invariants.failures + ([] if self.failures else self.invariants.unjudged):
            self.fail(each.invariant, "checks", each.explanation)


@contextlib.contextmanager
def staged(config: ClusterConfig, seed: int) -> Iterator[RealStage]:
    """A cluster of processes in a directory of its own; at the end every event has been read. Raises LabError."""
    with tempfile.TemporaryDirectory(prefix="cloverlab-kills-") as directory:
        home = Home.make(Path(directory), config, seed)
        stage = RealStage(config, lambda listen: TrialFabric(home, listen, None))
        stage.fabric.traces.hold_back_ns = HELD_BACK_NS
        yield stage


def run_batch(seed: int, family: str, rounds: int) -> Batch:
    """Raises LabError when the cluster does not start."""
    rng = random.Random(f"{seed}/kills")
    plan = Plan(seed, draw_cluster(rng, family))
    config = scaled(plan, default_scale(plan)).cluster
    with staged(config, seed) as stage:
        batch = Batch(config, stage, rng)
        try:
            stage.start()
            batch.run(rounds)
        except Stuck as stuck:
            batch.fail("service", "loop", f"{stuck}: {disturbed_still(stage, batch.clients)}")
        finally:
            stage.stop()
        note_bugs(batch, stage)
        batch.finish()
    return batch


def killed(seed: int, family: str, rounds: int) -> Kills:
    """Results of one cluster. Raises LabError when it does not start."""
    batch = run_batch(seed, family, rounds)
    whole = not batch.failures
    return Kills(
        rounds=rounds if whole else 0,
        kills=batch.kills if whole else 0,
        calls=batch.calls,
        answered=batch.answered,
        audits=batch.audits,
        checked=sum(row["checked"] for row in batch.invariants.invariants()),
        families=[family],
        failures=batch.failures,
    )


def measure(rounds: int, first_seed: int = 1) -> Kills:
    """Runs clusters of the safe families in turn, one for each processor at a time, because they mostly wait. After a failure none begins."""
    total, left, turn = Kills(), rounds, 0
    with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn")) as pool:
        running: set[Future[Kills]] = set()
        while running or (left and not total.failures):
            while left and not total.failures and len(running) < (os.cpu_count() or 1):
                count = min(BATCH, left)
                running.add(pool.submit(killed, first_seed + turn, SAFE[turn % len(SAFE)], count))
                left, turn = left - count, turn + 1
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for each in done:
                note(total, each.result())
                said = f"{total.rounds}/{rounds} rounds, {total.kills} kills, last {total.families[-1]}"
                print(said, file=sys.stderr, flush=True)
    return total


def note(total: Kills, more: Kills) -> None:
    for field in Kills.__struct_fields__:
        setattr(total, field, getattr(total, field) + getattr(more, field))
