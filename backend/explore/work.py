"""One job of a worker, on any executor: bytes in, bytes out."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import NamedTuple

import msgspec

from backend.explore.process_trial import run_on_processes
from nodes.config import Holes, Variant
from nodes.explore.draw import draw
from nodes.explore.plan import Failure, Plan, PlanOutcome
from nodes.explore.shrinker import shrink
from nodes.explore.trial import run
from nodes.mutations import Mutations

SHRINK_S = 60
"""Longest real time for shrinking one failure, in seconds."""


class Limit(NamedTuple):
    """What one trial may take, in seconds of a clock of this process; more is an endless loop."""

    seconds: float
    clock: str
    timer: int
    signal: int


SIMULATED = Limit(180, "processor time", signal.ITIMER_PROF, signal.SIGPROF)
"""Other work on the machine does not count."""
ON_PROCESSES = Limit(1_800, "real time", signal.ITIMER_REAL, signal.SIGALRM)
"""Every timeout takes real time there."""


class TrialJob(msgspec.Struct, frozen=True, omit_defaults=True):
    """A seed to draw and run, a plan to run, or a plan to shrink."""

    seed: int
    protocol: str = ""
    holes: Holes = Holes()
    mutations: Mutations = Mutations()
    plan: Plan | None = None
    shrink_as: Failure | None = None
    """The failure that a shrunk plan must still show; at most `shrink_trials` trials look for one."""
    shrink_trials: int = 2_000
    on: str = "simulated"
    """`simulated` or `processes`."""
    scale: float | None = None
    """Factor for every time on processes; None measures this machine."""
    variant: Variant = "safe"


class TookTooLong(Exception):
    """A trial did not end."""


def plan_of(job: TrialJob) -> Plan:
    return job.plan or draw(job.seed, job.protocol, job.holes, job.mutations, job.variant)


def encode(job: TrialJob) -> bytes:
    return msgspec.msgpack.encode(job)


def work(job_bytes: bytes) -> bytes:
    """Runs a job in this process; returns an `PlanOutcome`."""
    job = msgspec.msgpack.decode(job_bytes, type=TrialJob)
    plan = plan_of(job)
    if job.on == "processes":
        outcome = bounded(plan, lambda plan: run_on_processes(plan, job.scale), ON_PROCESSES)
        return msgspec.msgpack.encode(outcome)
    if job.shrink_as is not None:
        plan = shrunk(plan, job.shrink_as, job.shrink_trials)
    return msgspec.msgpack.encode(bounded(plan))


def outcome_of(result: bytes) -> PlanOutcome:
    return msgspec.msgpack.decode(result, type=PlanOutcome)


def bounded(plan: Plan, run: Callable[[Plan], PlanOutcome] = run, limit: Limit = SIMULATED) -> PlanOutcome:
    """Runs a trial with a limit; a trial that reaches it is a failure."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TookTooLong(f"not done after {limit.seconds} s of {limit.clock}")

    before = signal.signal(limit.signal, stop)
    signal.setitimer(limit.timer, limit.seconds)
    try:
        return run(plan)
    except TookTooLong as late:
        return PlanOutcome(plan, [Failure("an end", limit.clock, str(late))])
    finally:
        signal.setitimer(limit.timer, 0)
        signal.signal(limit.signal, before)


def shrunk(plan: Plan, failure: Failure, trials: int) -> Plan:
    """The smallest plan found that still violates the same invariant in the same place."""
    left = trials

    def fails(candidate: Plan) -> bool:
        nonlocal left
        left -= 1
        return fails_so(candidate, failure)

    until_s = time.monotonic() + SHRINK_S
    return shrink(plan, fails, lambda: left > 0 and time.monotonic() < until_s)


def fails_so(plan: Plan, failure: Failure) -> bool:
    """Whether a trial of this plan violates the same invariant in the same place."""
    found = bounded(plan).failures
    return any((each.invariant, each.place) == (failure.invariant, failure.place) for each in found)
