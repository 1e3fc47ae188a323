"""`./cloverlab status`: the running cluster."""

from __future__ import annotations

import json

import typer

from backend.commands.options import Port, ask
from backend.commands.output import Format, OldJson, Output, chosen

app = typer.Typer()


@app.command()
def status(
    context: typer.Context, port: Port = None, output: Output = Format.TABLE, as_json: OldJson = False
) -> None:
    """Show the servers of the running cluster."""
    from backend.status import short, table

    cluster = ask(context, port, "GET", "/api/cluster")
    wanted = chosen(output, as_json)
    print(json.dumps(short(cluster), indent=1) if wanted is Format.JSON else table(cluster))
