"""`./cloverlab explore`: searches with a progress line, groups and shrinks failures, and writes a file of each."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any, cast, get_args

import msgspec
from rich.console import Console

from backend.errors import LabError, Malformed
from backend.explore import scenario_writer
from backend.explore.campaign import Campaign, CampaignTally, Target, shrunk
from backend.explore.dask_executor import Dask
from backend.explore.executors import Executor, Here, ProcessExecutor, WorkersLost
from backend.explore.result import Result, of_trials
from backend.explore.search_progress import search_progress
from backend.explore.steps import explore_steps
from backend.explore.trial_shrinker import shrink_file
from backend.explore.work import SHRINK_S
from backend.interrupts import watch_signals
from backend.scenarios.reader import read
from backend.scenarios.report import report_story
from nodes.config import Holes, Variant
from nodes.explore.branches import EVERY, reached
from nodes.explore.coverage import unreached
from nodes.explore.draw import SAFE
from nodes.explore.plan import Plan, PlanOutcome
from nodes.families import family_named
from nodes.mutations import Mutations

SEEDS = re.compile(r"^(\d{1,12})\.\.(\d{1,12})$")
SEEDS_MAX = 1_000_000
SHRUNK_TRIALS = 1_500
SHRUNK_MAX = 12
LEAST = 6
"""Number of least-reached modules that the report names."""
console = Console(stderr=True, highlight=False)


class ExploreOptions(msgspec.Struct, frozen=True):
    """Options of `explore`."""

    protocol: str | None = None
    everything: bool = False
    minutes: float | None = None
    seeds: str | None = None
    jobs: int = 0
    """Processes; 0 means one for each processor."""
    dask: str | None = None
    out: Path = Path("explored")
    mutations: tuple[str, ...] = ()
    holes: tuple[str, ...] = ()
    on: str = "simulated"
    """`simulated` or `processes`."""
    shrink: bool = False
    """Shrink the failing trial of the file, and search nothing."""
    scale: float | None = None
    """Factor for every time on processes; None measures this machine."""
    variant: str = "safe"
    """`paper` opens the family's holes beside `holes`."""


def explore_command(file: Path | None, wish: ExploreOptions) -> Result:
    """Does what the command asks for. A file without a trial is searched by its own steps with other seeds. Raises LabError."""
    watch_signals()
    if sum((file is not None, wish.protocol is not None, wish.everything)) > 1:
        raise Malformed("explore takes a scenario file, --protocol or --all: one of them")
    if file is None:
        if wish.shrink:
            raise Malformed("explore --shrink takes a file with a trial")
        return explore(wish)
    if wish.mutations or wish.holes or wish.variant != "safe":
        raise Malformed(
            "explore --mutation, --hole and --variant are for drawn clusters: the file names its own"
        )
    [first, *_] = scenarios = read(file)
    if wish.shrink:
        if first.trial is None or wish.on != "simulated":
            raise Malformed(
                f"explore --shrink takes a file with a trial, on the simulator: {file} --on {wish.on}"
            )
        with scenario_writer.writable(file.parent):
            return shrink_file(file, first.plan(), SHRINK_S if wish.minutes is None else wish.minutes * 60)
    if first.trial is not None:
        return explore(wish, first.plan())
    if wish.dask is not None or wish.on != "simulated" or wish.scale is not None:
        raise Malformed(f"explore {file}: --dask, --on and --scale are for files with a trial")
    with scenario_writer.writable(wish.out):
        return explore_steps(
            file, scenarios, seeds_of(wish), wish.minutes, wish.jobs or os.cpu_count() or 1, wish.out
        )


def explore(wish: ExploreOptions, base: Plan | None = None) -> Result:
    """Searches. Raises LabError."""
    target = target_of(wish, base)
    seeds = seeds_of(wish)
    until_s = None if wish.minutes is None else wish.minutes * 60
    if seeds is None and until_s is None:
        seeds = range(1, 101)
    with scenario_writer.writable(wish.out):
        executor = executor_of(wish)
        try:
            tally = watched(target, executor, seeds, until_s, base)
            report(tally)
            files = written(tally, executor, wish)
        finally:
            executor.close()
    return of_trials(bool(tally.failures or tally.lost), files, wish.on, figures(tally))


def figures(tally: CampaignTally) -> dict[str, Any]:
    """The counts of a search, and its kinds of failure."""
    words = ("seeds", "took_s", "by_family", "calls", "answered", "checked", "virtual_ns", "beyond", "skipped", "incomplete")  # fmt: skip
    failures = [
        {"protocol": family, "invariant": invariant, "place": place, "count": count}
        for (family, invariant, place), count in tally.counts.most_common()
    ]
    counts = {word: getattr(tally, word) for word in words}
    return {**counts, "coverage": len(tally.coverage), "failures": failures}


def executor_of(wish: ExploreOptions) -> Executor:
    """Raises LabError."""
    if wish.on not in ("simulated", "processes"):
        raise Malformed(f"explore --on {wish.on[:40]!r}: use simulated or processes")
    if wish.on == "processes":
        if wish.dask is not None or wish.jobs > 1:
            raise Malformed(
                "explore --on processes runs one trial after the other on this machine: no --jobs, no --dask"
            )
        return Here()
    if wish.scale is not None:
        raise Malformed("explore --scale is for --on processes: the simulator's time is its own")
    return ProcessExecutor(wish.jobs or os.cpu_count() or 1) if wish.dask is None else Dask(wish.dask)


def target_of(wish: ExploreOptions, base: Plan | None) -> Target:
    if base is not None:
        return Target(
            (base.cluster.protocol,), base.cluster.holes, base.cluster.mutations, wish.on, wish.scale
        )
    if not wish.everything and wish.protocol is None:
        raise Malformed("explore needs a scenario file, --protocol NAME or --all")
    try:
        if wish.protocol is not None:
            family_named(wish.protocol)
    except ValueError as error:
        raise Malformed(str(error)) from None
    for kind, names, struct in (("mutation", wish.mutations, Mutations), ("hole", wish.holes, Holes)):
        for name in names:
            if name not in struct.__struct_fields__:
                raise Malformed(
                    f"{name[:40]!r} is not a known {kind}; there are {', '.join(struct.__struct_fields__)}"
                )
    if wish.variant not in get_args(Variant):
        raise Malformed(
            f"the variant {wish.variant[:40]!r} is unknown; there are {', '.join(get_args(Variant))}"
        )
    protocols = SAFE if wish.protocol is None else (wish.protocol,)
    holes, mutations = dict.fromkeys(wish.holes, True), dict.fromkeys(wish.mutations, True)
    return Target(
        protocols, Holes(**holes), Mutations(**mutations), wish.on, wish.scale, cast(Variant, wish.variant)
    )


def seeds_of(wish: ExploreOptions) -> range | None:
    if wish.seeds is None:
        return None
    match = SEEDS.match(wish.seeds)
    if match is None or int(match[1]) > int(match[2]) or int(match[2]) - int(match[1]) >= SEEDS_MAX:
        raise Malformed(f"--seeds {wish.seeds[:40]!r}: write A..B with A ≤ B, at most {SEEDS_MAX} seeds")
    return range(int(match[1]), int(match[2]) + 1)


def watched(
    target: Target, executor: Executor, seeds: range | None, until_s: float | None, base: Plan | None
) -> CampaignTally:
    """Runs the campaign with a progress line."""
    total = until_s if until_s is not None else float(len(seeds or ()))
    with search_progress(console, total) as progress:
        began_s = time.monotonic()

        def show(tally: CampaignTally) -> None:
            progress(time.monotonic() - began_s if until_s is not None else tally.seeds, summary(tally))

        return Campaign(target, executor, seeds, until_s, show, base=base).run()


def summary(tally: CampaignTally) -> str:
    rate = tally.seeds / tally.took_s if tally.took_s else 0.0
    return f"{tally.seeds} seeds, {rate:.1f}/s, coverage {len(tally.coverage)}, {tally.failed} failed"


def report(tally: CampaignTally) -> None:
    """Prints the trials and failures of a search."""
    hours = tally.virtual_ns / 3.6e12
    families = ", ".join(f"{name} {count}" for name, count in sorted(tally.by_family.items()))
    console.print(
        f"{tally.seeds} seeds in {tally.took_s:.0f} s ({families}): {tally.calls} calls, {tally.answered} answered, "
        f"{tally.checked} facts checked, {hours:.2f} virtual hours, coverage {len(tally.coverage)}, "
        f"{tally.beyond} beyond what a family survives, {tally.skipped} faults impossible"
    )
    report_unreached(tally)
    if tally.incomplete:
        console.print(f"[yellow]incomplete[/yellow]: {tally.incomplete}")
    if not tally.failures:
        console.print("[green]no trial failed[/green]")
    for (family, invariant, place), count in tally.counts.most_common():
        console.print(f"[red]{count} times[/red] {family}: {invariant} ({place})")
        failure = tally.failures[family, invariant, place].failures[0]
        console.print(f"    {failure.explanation[:300]}", markup=False)
        report_story(console, failure.story)


def report_unreached(tally: CampaignTally) -> None:
    """Prints the steps and faults that the search never reached, and the coverage of each module."""
    missed = unreached(tally.coverage, list(tally.by_family))
    if missed:
        console.print(f"never reached: {', '.join(missed)}")
    modules = reached(tally.coverage)
    if not modules:
        return
    there, all_lines = (sum(each[part] for each in modules.values()) for part in (0, 1))
    least = sorted(modules.items(), key=lambda item: item[1][0] / max(1, item[1][1]))[:LEAST]
    shown = ", ".join(f"{module} {100 * some // max(1, lines)} %" for module, (some, lines) in least)
    console.print(
        f"{there} of {all_lines} lines of {len(modules)} modules (measured in one trial of {EVERY}); least of {shown}"
    )


def written(tally: CampaignTally, executor: Executor, wish: ExploreOptions) -> list[tuple[Path, str]]:
    """Shrinks the first failures and writes a file for each kind of failure; returns the files and the hashes of their event logs. Failures stay
    unshrunk when there are many, when the shrinking was interrupted, and on processes, where no run repeats another."""
    found, done = list(tally.failures.values()), dict[int, PlanOutcome]()
    if found and wish.on != "processes":
        done = shrunk_first(found, executor)
    outcomes = [done.get(each.plan.seed, each) for each in found]
    return [(scenario_writer.write(each, wish.out), each.log_sha256) for each in outcomes]


def shrunk_first(found: list[PlanOutcome], executor: Executor) -> dict[int, PlanOutcome]:
    """The first failures by their seeds, shrunk as far as the workers and the person allow."""
    done: dict[int, PlanOutcome] = {}

    def keep(outcome: PlanOutcome) -> None:
        done[outcome.plan.seed] = outcome

    chosen = found[:SHRUNK_MAX]
    rest = "; the others are written as they were found" if len(found) > len(chosen) else ""
    console.print(f"shrinking {len(chosen)} of {len(found)} kinds of failure{rest} …")
    try:
        shrunk(executor, chosen, SHRUNK_TRIALS, keep)
    except (WorkersLost, KeyboardInterrupt, LabError) as error:
        console.print(f"shrinking was stopped: {error or 'Ctrl-C'}")
    return done
