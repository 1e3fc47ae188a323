"""`./cloverlab test`, `bench` and `reproduce`: checks, benchmarks and the experiments of the papers."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Annotated

import typer

from backend import progress
from backend.errors import Malformed
from backend.interrupts import watch_signals
from backend.repository import REPOSITORY
from backend.suggestion import nearest

app = typer.Typer()


@app.command()
def test(level: Annotated[str, typer.Argument(metavar="LEVEL", help="quick, all or full")] = "all") -> None:
    """Run all checks."""
    runner = importlib.import_module("tests.runner.run")
    if level not in runner.LEVELS:
        raise Malformed(f"test {level[:40]!r} is unknown; use {', '.join(runner.LEVELS)}")
    raise typer.Exit(runner.main(level))


@app.command()
def bench(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A benchmark, as docs/benchmarks.md lists them.")
    ],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Arguments of the benchmark: a directory for ddg.")
    ] = None,
) -> None:
    """Run a benchmark; prints one JSON object."""
    known = sorted(path.stem for path in REPOSITORY.glob("benchmarks/[a-z]*.py"))
    if name not in known:
        raise Malformed(
            f"bench {name[:40]!r} is unknown{nearest(name, known)}; there are {', '.join(known) or 'none'}"
        )
    try:
        main = importlib.import_module(f"benchmarks.{name}").main
    except ModuleNotFoundError as missing:
        raise Malformed(f"bench {name} needs the package {missing.name} of requirements-test.lock") from None
    try:
        inspect.signature(main).bind(*arguments or ())
    except TypeError as error:
        raise Malformed(f"bench {name}: {error}") from None
    watch_signals()
    with progress.shown(" ".join(["bench", name, *(arguments or [])])):
        code = main(*arguments or ()) or 0
    raise typer.Exit(code)


@app.command()
def reproduce(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="An experiment, as docs/reproduce.md lists them.")
    ],
    to: Annotated[
        Path, typer.Option(metavar="DIR", help="The directory that NAME.json and NAME.svg are written to.")
    ] = Path("reproduced"),
    quick: Annotated[bool, typer.Option("--quick", help="A small run: the shape in a few seconds.")] = False,
) -> None:
    """Repeat an experiment of the papers; prints one JSON object."""
    watch_signals()
    with progress.shown(f"reproduce {name}{' --quick' if quick else ''}"):
        code = importlib.import_module("benchmarks.experiments.command").reproduce(name, to, quick)
    raise typer.Exit(code)
