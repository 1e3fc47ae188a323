"""`./cloverlab pool`: the content of the storage pool."""

from __future__ import annotations

import json
from typing import Annotated
from urllib.parse import urlencode

import typer

from backend.settings import DEFAULT_PORT

app = typer.Typer(no_args_is_help=True, help="The storage pool and its images.")
Port = Annotated[int | None, typer.Option("--port", min=1, max=65535)]


@app.callback()
def main(context: typer.Context, port: Port = None) -> None:
    context.obj = port or (context.parent.obj if context.parent else None)


@app.command()
def look(
    context: typer.Context,
    path: str,
    sn: Annotated[int, typer.Option(min=0, help="Sn of the image; by default the newest of the group.")] = 0,
    port: Port = None,
) -> None:
    """Look a path up in an image, and show the partitions that were loaded for it."""
    from backend import remote

    asked = urlencode({"path": path, "sn": sn})
    reported = remote.ask(port or context.obj or DEFAULT_PORT, "GET", f"/api/pool/look?{asked}")
    print(json.dumps(reported, indent=1))
