"""`./cloverlab pool`: what lies in the storage pool."""

from __future__ import annotations

import json
from typing import Annotated
from urllib.parse import urlencode

import typer

from backend.settings import DEFAULT_PORT

app = typer.Typer(no_args_is_help=True, help="The storage pool: what its images say.")
Port = Annotated[int | None, typer.Option("--port", min=1, max=65535)]


@app.callback()
def main(context: typer.Context, port: Port = None) -> None:
    context.obj = port or (context.parent.obj if context.parent else None)


@app.command()
def look(
    context: typer.Context,
    path: str,
    sn: Annotated[int, typer.Option(min=0, help="Of the image; the newest of the group unless told.")] = 0,
    port: Port = None,
) -> None:
    """Tell what an image says of a path, and which of its partitions were loaded for it."""
    from backend import remote

    asked = urlencode({"path": path, "sn": sn})
    told = remote.ask(port or context.obj or DEFAULT_PORT, "GET", f"/api/pool/look?{asked}")
    print(json.dumps(told, indent=1))
