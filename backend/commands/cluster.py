"""`./cloverlab status`: the running cluster."""

from __future__ import annotations

import sys
import time
from typing import Annotated, Any

import typer

from backend.commands.options import Port, look
from backend.commands.output import Format, OldJson, Output, chosen, show
from backend.errors import Exit

app = typer.Typer()
CLEAR = "\x1b[H\x1b[J"
INTERVAL_S = 1.0


@app.command()
def status(
    context: typer.Context,
    port: Port = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 unless all is well, and print the problems only.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Again every second, until Ctrl-C.")] = False,
    output: Output = Format.TABLE,
    as_json: OldJson = False,
) -> None:
    """Show the processes of the running cluster, their lag, and whether the cluster is settled."""
    wanted = chosen(output, as_json)
    while True:
        reported = look(context, port, "/api/status")
        if watch and sys.stdout.isatty():
            print(CLEAR, end="")
        if check and wanted is Format.TABLE:
            print("\n".join(reported["problems"]), end="\n" if reported["problems"] else "")
        else:
            report(wanted, reported)
        if not watch:
            break
        sys.stdout.flush()
        time.sleep(INTERVAL_S)
    if check and (reported["problems"] or not reported["settled"]):
        raise typer.Exit(Exit.FAILED)


def report(output: Format, reported: dict[str, Any]) -> None:
    rows = reported.pop("rows")
    show(output, reported, rows)
    if output is Format.TABLE:
        print(
            "settled"
            if reported["settled"]
            else f"not settled: {', '.join(reported['problems']) or 'starting'}"
        )
