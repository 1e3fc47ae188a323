"""The process of one submission: it loads the module under limits, runs one trial after the other, and reports each on its own descriptor.

`python -m nodes.grading.worker TASK FILE FIRST LAST STEP SECONDS`: the seeds from FIRST to LAST, every STEP-th, each with so much processor time.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from nodes.explore.plan import Failure, Plan, PlanOutcome
from nodes.explore.shrinker import shrink
from nodes.explore.sim_stage import SimStage
from nodes.explore.trial import Trial
from nodes.grading.limits import SeedTimer, SubmissionGuard, limit_process
from nodes.grading.loader import BadSubmission, load
from nodes.grading.refusal import Passed, TrialFailed, TrialStarted, refuse, report
from nodes.grading.tasks import TASKS, StartServer, messages_of
from nodes.wire.messages import Message

SHRINK_CPU_S = 5.0
"""Most processor time for making a failing trial smaller."""
SHRINK_TRIALS = 300
CPU_S = 600
STORY_LINES = 80


Run = Callable[[Plan], PlanOutcome]


def judge(plan: Plan, run: Run) -> PlanOutcome:
    """The outcome of a trial; a failing one is shrunk."""
    outcome = run(plan)
    if outcome.clean:
        return outcome
    failure, until_s, left = outcome.failures[0], used_s() + SHRINK_CPU_S, SHRINK_TRIALS

    def fails(candidate: Plan) -> bool:
        nonlocal left
        left -= 1
        report(TrialStarted(plan.seed))
        return same(run(candidate), failure)

    small = shrink(plan, fails, lambda: left > 0 and used_s() < until_s)
    if small == plan:
        return outcome
    shrunk = run(small)
    return shrunk if same(shrunk, failure) else outcome


def used_s() -> float:
    """Processor time of this process so far, in seconds."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def same(outcome: PlanOutcome, failure: Failure) -> bool:
    return any(each.invariant == failure.invariant for each in outcome.failures)


def bounded(
    plan: Plan, start: StartServer, messages: Sequence[type[Message]], timer: SeedTimer
) -> PlanOutcome:
    timer.begin(plan.seed)
    try:
        return Trial(plan, stage=SimStage(plan.cluster, plan.seed, plan.conditions, start, messages)).run()
    finally:
        timer.end()


def failed(seed: int, first: Failure, outcome: PlanOutcome) -> TrialFailed:
    failure = next((each for each in outcome.failures if each.invariant == first.invariant), first)
    return TrialFailed(
        seed,
        failure.invariant,
        failure.explanation[:500],
        failure.story[-STORY_LINES:],
        len(outcome.plan.faults),
        outcome.plan.calls,
    )


def main(task_name: str, file: str, first: int, last: int, step: int, seed_cpu_s: float) -> None:
    task, watch = TASKS[task_name], SubmissionGuard()
    limit_process(CPU_S)
    try:
        source = Path(file).read_bytes()
        watch.armed = True
        module = load(file, source, task.allowed)
        task.check(module)
        start, messages = task.start(module), messages_of(module)
    except OSError as error:
        refuse(f"{file}: {error.strerror}")
    except BadSubmission as bad:
        refuse(str(bad))
    run = partial(bounded, start=start, messages=messages, timer=SeedTimer(file, seed_cpu_s))
    for seed in range(first, last + 1, step):
        report(TrialStarted(seed))
        outcome = judge(task.plan(seed), run)
        if outcome.clean:
            report(Passed(seed))
        else:
            report(failed(seed, outcome.failures[0], outcome))
            return


if __name__ == "__main__":
    name, path, first, last, step, seconds = sys.argv[1:]
    main(name, path, int(first), int(last), int(step), float(seconds))
