"""`./cloverlab journal dump` and `image dump`: a server's files, without the server."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from backend.commands.output import Format, Output
from backend.errors import Exit, Malformed, reason_of
from nodes.errors import Damaged

app = typer.Typer()
journal = typer.Typer(no_args_is_help=True, help="Journals on disk.")
image = typer.Typer(no_args_is_help=True, help="Images on disk.")
app.add_typer(journal, name="journal")
app.add_typer(image, name="image")
LAST = (1 << 64) - 1
Files = Annotated[Path, typer.Argument(metavar="DIR|FILE")]


@journal.callback()
def journals() -> None:
    """Journals on disk."""


@image.callback()
def images() -> None:
    """Images on disk."""


@journal.command("dump")
def dump_journal(
    path: Files,
    first: Annotated[int, typer.Option("--from", min=0, metavar="SN", help="First serial number.")] = 0,
    last: Annotated[int | None, typer.Option("--to", min=0, metavar="SN", help="Last serial number.")] = None,
    output: Output = Format.TABLE,
) -> None:
    """Print the entries of a journal: DIR is a server's data directory or its journal, FILE one segment.

    No cluster has to run, and nothing is altered. With `-o json` each line is one entry with all its records. The exit code is 1 when a file
    is damaged or cut off; what is whole is printed before.
    """
    from nodes.dump.journals import entries

    if last is not None and last < first:
        raise Malformed(f"--to {last} is before --from {first}")
    if output is Format.TABLE and path.exists():
        print(f"{'sn':>12}  {'epoch':>8}  {'time':23}  records")
    print_all(entries(path, first, LAST if last is None else last), output, journal_row)


@image.command("dump")
def dump_image(path: Files, output: Output = Format.TABLE) -> None:
    """Print the rows of an image: DIR is a server's data directory (its newest image), FILE a manifest or a partition.

    No cluster has to run, and nothing is altered. With `-o json` each line is one row. The exit code is 1 when a file is damaged or cut off;
    what is whole is printed before.
    """
    from nodes.dump.images import rows

    print_all(rows(path), output, image_row)


def print_all(found: Iterator[dict[str, Any]], output: Format, row: Callable[[dict[str, Any]], str]) -> None:
    """Raises Malformed when there is nothing to read, Exit when something of it is damaged."""
    try:
        for each in found:
            print(json.dumps(each) if output is Format.JSON else row(each))
    except Damaged as damaged:
        sys.stdout.flush()
        print(f"cloverlab: {damaged}", file=sys.stderr)
        raise typer.Exit(Exit.FAILED) from None
    except BrokenPipeError:
        raise
    except FileNotFoundError as error:
        raise Malformed(
            str(error) if error.errno is None else f"{error.filename}: {reason_of(error)}"
        ) from None
    except OSError as error:
        raise Malformed(f"cannot read {error.filename}: {reason_of(error)}") from None


def journal_row(entry: dict[str, Any]) -> str:
    at = entry.get("at_ns", 0)
    time = f"{datetime.fromtimestamp(at // 1_000_000_000, UTC):%Y-%m-%d %H:%M:%S}.{at % 1_000_000_000 // 1_000_000:03}"
    kinds = Counter(record["kind"] for record in entry["records"])
    records = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    note = "fence" if entry.get("fence") else "decided up to here" if "decided_up_to" in entry else "empty"
    return f"{entry['sn']:>12}  {entry['epoch']:>8}  {time if at else '-':23}  {records or note}"


def image_row(row: dict[str, Any]) -> str:
    fields = "  ".join(
        f"{name}={json.dumps(value)}" for name, value in row.items() if name not in ("kind", "partitions")
    )
    return f"{row['kind']:10}  {fields}"
