"""`python -m backend.searches.worker`: one search, or the shrinking of one failure, at low priority.

It reads a `Task` as a line of JSON from standard input and writes reports as JSON lines. It ends early, and keeps what it has found, as soon as
standard input ends: its owner has asked for that, or is gone.
"""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Iterator

import msgspec

from backend.explore.campaign import Campaign, CampaignTally, Target
from backend.explore.executors import Executor, ProcessExecutor
from backend.explore.work import bounded, fails_so
from backend.searches.reports import (
    Figures,
    Report,
    SearchEnd,
    SearchTask,
    Shrinking,
    ShrinkTask,
    SmallestFound,
    Task,
)
from nodes.explore.plan import Plan, PlanOutcome
from nodes.explore.shrinker import shrink

NICENESS = 10
REPORT_S = 0.5


def say(report: Report) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(report) + b"\n")
    sys.stdout.flush()


def withdrawn() -> bool:
    """Whether standard input has ended; nothing else comes after the task."""
    return bool(select.select([sys.stdin], [], [], 0)[0])


def without_coverage(outcome: PlanOutcome) -> PlanOutcome:
    return msgspec.structs.replace(outcome, coverage=frozenset())


class WithdrawableExecutor:
    """An executor whose results end like Ctrl-C when the search is withdrawn."""

    def __init__(self, executor: Executor):
        self._executor = executor
        self.width = executor.width
        self.submit = executor.submit
        self.close = executor.close

    def results(self, timeout_s: float) -> Iterator[bytes]:
        if withdrawn():
            raise KeyboardInterrupt
        yield from self._executor.results(timeout_s)


class TallyReporter:
    """Says the figures twice a second, and each smallest plan when it is found."""

    def __init__(self) -> None:
        self._said_s = 0.0
        self._known: dict[tuple[str, str, str], PlanOutcome] = {}

    def show(self, tally: CampaignTally) -> None:
        if time.monotonic() - self._said_s >= REPORT_S:
            self.say_all(tally)

    def say_all(self, tally: CampaignTally) -> None:
        self._said_s = time.monotonic()
        for kind, outcome in tally.failures.items():
            if self._known.get(kind) is not outcome:
                self._known[kind] = outcome
                say(SmallestFound(without_coverage(outcome)))
        say(figures_of(tally))


def figures_of(tally: CampaignTally) -> Figures:
    counts = [(*kind, count) for kind, count in tally.counts.most_common()]
    return Figures(
        round(tally.took_s, 3), tally.seeds, tally.beyond, tally.calls, tally.answered, tally.checked,
        len(tally.coverage), tally.failed, counts,
    )  # fmt: skip


def search(task: SearchTask) -> SearchEnd:
    target = Target(task.protocols, task.holes, task.mutations)
    seeds = range(task.first_seed, task.first_seed + task.seeds) if task.seeds else None
    executor, reporter = WithdrawableExecutor(ProcessExecutor(task.jobs)), TallyReporter()
    try:
        tally = Campaign(target, executor, seeds, task.until_s, reporter.show).run()
    finally:
        executor.close()
    reporter.say_all(tally)
    if tally.lost:
        return SearchEnd("failed", tally.incomplete)
    if tally.incomplete:
        return SearchEnd("stopped")
    late = tally.seeds < task.seeds
    return SearchEnd(
        "ended", f"after {task.until_s / 60:g} minutes, the longest time of a search" if late else ""
    )


def shrink_outcome(task: ShrinkTask) -> SearchEnd:
    """`stopped` when more may be removed."""
    smallest, failure = task.outcome.plan, task.outcome.failures[0]
    until_s, trials = time.monotonic() + task.until_s, 0

    def go_on() -> bool:
        return time.monotonic() < until_s and not withdrawn()

    def fails(candidate: Plan) -> bool:
        nonlocal smallest, trials
        if not go_on():
            return False
        trials += 1
        failed = fails_so(candidate, failure)
        smallest = candidate if failed else smallest
        say(Shrinking(trials, len(smallest.faults), smallest.calls))
        return failed

    core = shrink(smallest, fails, go_on)
    complete, outcome = go_on(), bounded(core)
    if outcome.failures:
        say(SmallestFound(without_coverage(outcome)))
    return SearchEnd("ended" if complete else "stopped")


def main() -> None:
    os.nice(NICENESS)
    task = msgspec.json.decode(sys.stdin.buffer.readline(), type=Task)
    say(search(task) if isinstance(task, SearchTask) else shrink_outcome(task))


if __name__ == "__main__":
    main()
