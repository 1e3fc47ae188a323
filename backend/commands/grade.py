"""`./cloverlab grade`: a student's part of a server against hundreds of random trials."""

from __future__ import annotations

import getpass
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from backend.commands.output import Format, Output, show
from backend.errors import Exit, Malformed
from backend.grading import skeletons
from backend.grading.supervisor import Graded, grade
from backend.grading.verdict import signed, verdict_of

app = typer.Typer()
SEEDS = re.compile(r"^(\d{1,9})\.\.(\d{1,9})$")
SEEDS_MAX = 10_000


@app.command("grade")
def grade_command(
    lab: Annotated[
        str, typer.Argument(metavar="LAB", help="election, renewing, fast-acknowledgement or replication.")
    ],
    directory: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Your folder with part.py, or the file itself.")
    ] = None,
    new: Annotated[
        Path | None, typer.Option("--new", metavar="DIR", help="Write the skeleton to this folder.")
    ] = None,
    seeds: Annotated[str, typer.Option(metavar="A..B", help="Seeds of the trials.")] = "1..300",
    jobs: Annotated[
        int, typer.Option(metavar="N", min=0, max=64, help="Processes; 0 for one per processor.")
    ] = 0,
    student: Annotated[
        str | None, typer.Option(metavar="NAME", envvar="CLOVERLAB_STUDENT", help="Your name in the verdict.")
    ] = None,
    code: Annotated[
        str | None, typer.Option(metavar="CODE", help="The join code of your class: it signs the verdict.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the verdict as JSON, to hand in.")
    ] = None,
    output: Output = Format.TABLE,
) -> None:
    """Grade a part of a server that you have written. Exit code 1: a trial broke a promise, and its story is printed."""
    skeletons.known(lab)
    if new is not None:
        for path in skeletons.write(lab, new):
            print(f"wrote {path}", file=sys.stderr)
        return
    if directory is None:
        raise Malformed("name your folder, or begin with --new DIR")
    file, chosen = skeletons.part_of(directory), seeds_of(seeds)
    graded = grade(lab, file, chosen, jobs or os.cpu_count() or 1, progress(len(chosen)))
    verdict = verdict_of(lab, student or getpass.getuser(), chosen, file.read_bytes(), graded)
    if code:
        verdict = signed(verdict, code)
    if graded.printed:
        print(graded.printed, file=sys.stderr)
    if graded.refused:
        raise Malformed(graded.refused)
    data = {**msgspec.to_builtins(verdict), "story": graded.failed.story if graded.failed else []}
    show(output, data, [summary(graded)])
    if output is Format.TABLE:
        print_story(graded)
    if out is not None:
        write(out, msgspec.json.format(msgspec.json.encode(verdict)))
    if not graded.well:
        raise typer.Exit(Exit.FAILED)


def summary(graded: Graded) -> dict[str, object]:
    failed = graded.failed
    return {
        "verdict": "passed" if graded.well else "failed", "seeds": graded.passed + bool(failed), "invariant": failed.invariant if failed else None,
        "seed": failed.seed if failed else None, "seconds": round(graded.took_s, 1),
    }  # fmt: skip


def print_story(graded: Graded) -> None:
    failed = graded.failed
    if failed is not None:
        print(f"\nSeed {failed.seed} breaks: {failed.invariant}. {failed.explanation}")
        print(
            f"The smallest trial found that shows it has {failed.faults} faults and {failed.calls} calls:\n"
        )
        print(*failed.story, sep="\n")


def write(path: Path, data: bytes) -> None:
    """Raises Malformed."""
    try:
        path.write_bytes(data + b"\n")
    except OSError as error:
        raise Malformed(f"cannot write {path}: {error.strerror}") from None


def seeds_of(text: str) -> range:
    """Raises Malformed."""
    found = SEEDS.match(text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]) or int(found[2]) - int(found[1]) >= SEEDS_MAX:
        raise Malformed(f"--seeds {text[:40]!r}: write A..B, at most {SEEDS_MAX} seeds from 1 on")
    return range(int(found[1]), int(found[2]) + 1)


def progress(total: int) -> Callable[[int], None]:
    def on_passed(count: int) -> None:
        if sys.stderr.isatty() and count % 10 == 0:
            print(f"\r{count} of {total} seeds", end="", file=sys.stderr, flush=True)

    return on_passed
