"""Power of the explorer: the known bugs that random seeds find, the time they take, false alarms of safe variants, and the simulator's speed."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import msgspec
import psutil

from backend.errors import Malformed, reason_of
from backend.explore.campaign import Campaign, CampaignTally, Target
from backend.explore.executors import ProcessExecutor, WorkersLost
from backend.places import bug_scores_file
from backend.searches.scores import SECONDS_MAX, BugScore, keep_score
from backend.version import version
from benchmarks import _shrinker, before
from benchmarks._cluster import report
from nodes.config import Holes
from nodes.explore.bugs import Bug, bugs
from nodes.explore.draw import SAFE
from nodes.mutations import Mutations

BUG_S = 60.0
"""Seconds of processor time of each of the workers: what else the machine does then hardly matters."""
ALARM_SEEDS = 1_000
"""Seeds of each safe family."""
JOBS = 2
BASELINE = "c94fdac"
"""The commit whose schedules per minute are the measure of the present ones."""
SPEEDS = ("schedules_per_minute", "ops_per_s", "virtual_s_per_s")
PARTS = ("all", "bugs", "alarms", "speed", "shrink")
SHRUNK_BUG = "off_by_one_quorum"


class BugSearch(msgspec.Struct):
    """Result of the search for one bug."""

    name: str
    family: str
    seconds: float
    """Processor seconds of each worker until the bug was found, or of the whole search."""
    seeds: int
    invariant: str = ""
    """Invariant that the bug violated; empty when the bug was not found."""


def target_of(bug: Bug) -> Target:
    on = {bug.name: True}
    if bug.name in Holes.__struct_fields__:
        return Target((bug.family,), holes=Holes(**on))
    return Target((bug.family,), mutations=Mutations(**on))


def search(bug: Bug, seconds: float) -> BugSearch:
    """Runs random seeds of the bug's family until one fails, or the time is over. Raises KeyboardInterrupt, WorkersLost: such a search measured
    nothing."""
    executor = ProcessExecutor(JOBS)

    def worked_s() -> float:
        spent = [psutil.Process(pid).cpu_times() for pid in executor.pids]
        return float(sum(each.user + each.system for each in spent)) / JOBS

    try:
        tally = Campaign(target_of(bug), executor, None, seconds, stop_at_first=True, clock=worked_s).run()
    finally:
        executor.close()
    if tally.lost:
        raise WorkersLost(tally.incomplete)
    if tally.incomplete:
        raise KeyboardInterrupt
    invariant = next((failure for _, failure, _ in tally.failures), "")
    return BugSearch(bug.name, bug.family, round(tally.took_s, 1), tally.seeds, invariant)


def false_alarms(first: int, count: int) -> dict[str, CampaignTally]:
    """Runs the same search without bugs, family by family; no trial may fail."""
    found: dict[str, CampaignTally] = {}
    for family in SAFE:
        executor = ProcessExecutor(os.cpu_count() or 1)
        try:
            seeds = range(first, first + count)
            found[family] = Campaign(Target((family,)), executor, seeds, None).run()
        finally:
            executor.close()
        tally = found[family]
        say(f"{family}: {tally.failed} of {tally.seeds} seeds failed, {tally.took_s:.0f} s")
        for key, count_of in tally.counts.items():
            say(f"  {count_of} times {key}: {tally.failures[key].failures[0].explanation[:200]}")
    return found


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main(what: str = "all", amount: str = "") -> int:
    """`bugs [SECONDS_EACH]`, `alarms [SEEDS_EACH]`, `speed [ROUNDS]`, `shrink [BUG]`, one bug's name, or all. Prints one JSON object."""
    known = {bug.name: bug for bug in bugs()}
    if what not in (*PARTS, *known):
        raise Malformed(
            f"bench explore {what[:40]!r} is unknown: say {', '.join(PARTS)} or one of {', '.join(known)}"
        )
    shrunk = known[amount if what == "shrink" and amount in known else SHRUNK_BUG]
    try:
        number = float(amount) if amount and amount != shrunk.name else None
    except ValueError:
        raise Malformed(f"bench explore {what} {amount[:20]!r}: a number is expected") from None
    if number is not None and not 0 < number <= SECONDS_MAX:
        raise Malformed(f"bench explore {what} {amount[:20]!r}: above 0, and at most {SECONDS_MAX:,}")
    figures: dict[str, Any] = {}
    if what in ("all", "bugs") or what in known:
        chosen = [known[what]] if what in known else list(known.values())
        figures |= power(chosen, number or BUG_S)
    if what in ("all", "alarms"):
        figures |= quiet(int(number or ALARM_SEEDS))
    if what in ("all", "speed"):
        figures |= speed(int(number or before.ROUNDS) if what == "speed" else before.ROUNDS)
    if what in ("all", "shrink"):
        target = target_of(shrunk)
        figures |= _shrinker.measured(shrunk.family, target.holes, target.mutations)
    return report("explore", {"bug_s": BUG_S, "jobs": JOBS}, figures, {})


def power(chosen: list[Bug], seconds: float) -> dict[str, Any]:
    """Searches for each of these bugs, and keeps its score for the page."""
    began_s, results, kept = time.monotonic(), [], set[str]()
    for bug in chosen:
        result = search(bug, seconds)
        results.append(result)
        say(
            f"{bug.name} ({bug.family}): {result.invariant or 'NOT FOUND'}, {result.seconds} s, {result.seeds} seeds"
        )
        if (line := kept_for_page(result, seconds)) not in kept:
            kept.add(line)
            say(line)
    found = [result for result in results if result.invariant]
    return {
        "bugs_found": len(found),
        "bugs_total": len(results),
        "bugs_found_share": round(len(found) / max(1, len(results)), 3),
        "slowest_bug_s": max((result.seconds for result in found), default=0.0),
        "bugs_not_found": [result.name for result in results if not result.invariant],
        "by_bug": {result.name: msgspec.to_builtins(result) for result in results},
        "power_s": round(time.monotonic() - began_s),
    }


def kept_for_page(result: BugSearch, limit_s: float) -> str:
    """Replaces the score of the bug that the page shows; returns what a person should know of that."""
    score = BugScore(
        result.family, result.invariant, result.seconds, result.seeds, limit_s, JOBS, version(), round(time.time(), 1)
    )  # fmt: skip
    try:
        keep_score(result.name, score)
    except OSError as error:
        return f"the page does not show it: {bug_scores_file()}: {reason_of(error)}"
    return "the page Explore shows it"


def speed(rounds: int) -> dict[str, Any]:
    """The simulator's speed (`bench simulator`), and the ratio of its schedules to those of the baseline, measured alternately. A checkout
    without that commit has no ratio."""
    try:
        rows, _ = before.pairs(BASELINE, "simulator", rounds)
    except Malformed as absent:
        say(absent.message)
        found = before.measure(before.ROOT, "simulator")
        return {key: found[key] for key in SPEEDS}
    figures = before.with_key(rows)
    return {key: rows[key]["now"] for key in SPEEDS} | {"schedules_ratio": figures["schedules_ratio"]}


def quiet(count: int) -> dict[str, Any]:
    tallies = false_alarms(1, count)
    return {
        "false_alarms": sum(tally.failed for tally in tallies.values()),
        "alarm_seeds": sum(tally.seeds for tally in tallies.values()),
        "alarms_by_family": {family: tally.failed for family, tally in tallies.items()},
    }
