"""`./cloverlab run` and `explore`: scenarios and the search for violations."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Annotated

import typer

from backend.commands.completion import scenarios
from backend.commands.output import Format, Output, show
from backend.errors import Exit, Malformed
from backend.interrupts import watch_signals
from nodes.config import SEED_MAX

app = typer.Typer()


def finite(number: float | None) -> float | None:
    """Refuses what is no finite number: `nan` is within all bounds."""
    if number is not None and not math.isfinite(number):
        raise typer.BadParameter(f"{number} is not a finite number.")
    return number


@app.command()
def run(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A scenario, as scenarios/ has them.", autocompletion=scenarios),
    ],
    on: Annotated[
        str, typer.Option(metavar="FABRIC", help="simulated, processes or containers.")
    ] = "simulated",
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, max=SEED_MAX, help="Seed in place of the file's own.")
    ] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="FILE.json or FILE.html.")] = None,
    scale: Annotated[
        float,
        typer.Option(
            metavar="X",
            min=0.01,
            max=10,
            callback=finite,
            help="Multiplies every time of the file on real servers.",
        ),
    ] = 1.0,
    protocol: Annotated[
        str | None, typer.Option(metavar="NAME", help="Family in place of the file's own.")
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(
            metavar="S", min=0, callback=finite, help="Pause a trial at this second of virtual time."
        ),
    ] = None,
    step: Annotated[
        float,
        typer.Option(
            metavar="S",
            min=0,
            callback=finite,
            help="Pause again after each so many seconds; 0 ends at the pause.",
        ),
    ] = 0.0,
    output: Output = Format.TABLE,
) -> None:
    """Run the scenarios of a file, or its trial; -o json prints the results."""
    if protocol is not None and on == "containers":
        raise Malformed("--protocol is for simulated and processes; PROTOCOL sets the family of containers")
    if on not in ("simulated", "processes", "containers"):
        raise Malformed(f"--on {on!r} is unknown; use simulated, processes or containers")
    commands = importlib.import_module("backend.run_command")
    watch_signals()
    if until is not None or step:
        raise typer.Exit(commands.step_command(file, on, seed, until or 0.0, step))
    raise typer.Exit(commands.run_command(file, on, seed, report, scale, protocol, output is Format.JSON))


@app.command()
def explore(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]", help="A scenario whose neighbours are searched.", autocompletion=scenarios
        ),
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(metavar="NAME", help="Draw clusters of this family.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Draw clusters of every safe family.")] = False,
    minutes: Annotated[
        float | None,
        typer.Option(metavar="N", min=0.01, max=10_000, callback=finite, help="Length of the search."),
    ] = None,
    seeds: Annotated[str | None, typer.Option(metavar="A..B", help="Exactly these seeds: A..B.")] = None,
    jobs: Annotated[
        int, typer.Option(metavar="N", min=0, max=256, help="Worker processes; 0 for one per processor.")
    ] = 0,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address of a Dask scheduler, instead of processes.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Directory for the files of failures.")] = Path(
        "explored"
    ),
    mutation: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A seeded bug to switch on.")
    ] = None,
    hole: Annotated[
        list[str] | None, typer.Option(metavar="HOLE", help="A hole of the paper to open.")
    ] = None,
    variant: Annotated[
        str, typer.Option(metavar="NAME", help="safe, or paper with all of a family's holes.")
    ] = "safe",
    on: Annotated[str, typer.Option(metavar="FABRIC", help="simulated or processes.")] = "simulated",
    shrink: Annotated[
        bool, typer.Option("--shrink", help="Shrink the failing trial of the file, for --minutes at most.")
    ] = False,
    scale: Annotated[
        float | None,
        typer.Option(
            metavar="X", min=0.1, max=100, callback=finite, help="On processes: multiplies every time."
        ),
    ] = None,
    output: Output = Format.TABLE,
) -> None:
    """Search for schedules that violate an invariant: random clusters, loads and faults, audited. Prints the command that repeats each failure."""
    commands = importlib.import_module("backend.explore.cli")
    switched = tuple(mutation or ()), tuple(hole or ())
    wish = commands.ExploreOptions(
        protocol, everything, minutes, seeds, jobs, dask, out, *switched, on, shrink, scale, variant
    )
    result = commands.explore_command(file, wish)
    if output is Format.JSON:
        show(output, result.document())
    else:
        for line in result.commands():
            print(line)
    raise typer.Exit(Exit.FAILED if result.failed else 0)
