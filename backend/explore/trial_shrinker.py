"""Shrinks the failing trial of a file, at any time after it was found."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console

from backend.errors import Malformed
from backend.explore import scenario_writer
from backend.explore.result import Result, of_trials
from backend.explore.work import SHRINK_S, bounded, fails_so
from nodes.explore.plan import Plan
from nodes.explore.shrinker import shrink

console = Console(stderr=True, highlight=False)


def shrink_file(file: Path, plan: Plan, seconds: float = SHRINK_S) -> Result:
    """Writes the smallest plan found that fails in the same way beside the file. Ctrl-C ends the search
    and keeps its result. Raises Malformed when the trial does not fail."""
    outcome = bounded(plan)
    if outcome.clean:
        raise Malformed(f"{file}: this trial does not fail on the simulator, so there is nothing to shrink")
    failure, until_s, stopped = outcome.failures[0], time.monotonic() + seconds, ""

    def fails(candidate: Plan) -> bool:
        nonlocal stopped
        try:
            return not stopped and fails_so(candidate, failure)
        except KeyboardInterrupt:
            stopped = "by Ctrl-C"
            return False

    def go_on() -> bool:
        nonlocal stopped
        if time.monotonic() >= until_s:
            stopped = stopped or f"after {seconds:g} s"
        return not stopped

    core = shrink(plan, fails, go_on)
    how = f"stopped {stopped}: more may be removed" if stopped else "nothing more can be removed"
    console.print(f"{size_of(plan)} become {size_of(core)}; {how}")
    smallest = bounded(core)
    return of_trials(True, [(scenario_writer.write_beside(file, smallest), smallest.log_sha256)])


def size_of(plan: Plan) -> str:
    servers = sum(len(group.members) for group in plan.cluster.groups)
    return f"{len(plan.faults)} faults, {plan.calls} calls, {len(plan.callers)} clients, {servers} servers"
