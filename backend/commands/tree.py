"""`./cloverlab tree`: the coordination tree of the running cluster."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

import typer

from backend.commands.names import shown
from backend.commands.options import Port, ask
from backend.commands.output import Format, Output, show

app = typer.Typer()


@app.command()
def tree(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="[PATH]", help="A node; everything by default.")] = "/",
    output: Output = Format.TABLE,
    port: Port = None,
) -> None:
    """Show the nodes of the coordination service with their data; for an ephemeral node, the server whose session owns it."""
    nodes = ask(context, port, "GET", f"/api/tree?{urlencode({'path': path})}")
    show(output, nodes, [row(node) for node in nodes])


def row(node: dict[str, Any]) -> dict[str, Any]:
    return {
        "path": shown(node["path"]),
        "version": node["version"],
        "owner": node["owner"] or node["session"],
        "data": shown(node["data"]),
    }
