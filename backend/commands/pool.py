"""`./cloverlab pool`: the content of the storage pool."""

from __future__ import annotations

import json
from typing import Annotated
from urllib.parse import urlencode

import typer

from backend.commands.options import Port, ask, inherit_port

app = typer.Typer()
pool = typer.Typer(no_args_is_help=True, help="The storage pool and its images.")
pool.callback()(inherit_port)
app.add_typer(pool, name="pool")


@pool.command()
def look(
    context: typer.Context,
    path: str,
    sn: Annotated[int, typer.Option(min=0, help="Sn of the image; by default the newest of the group.")] = 0,
    port: Port = None,
) -> None:
    """Look a path up in an image, and show the partitions that were loaded for it."""
    asked = urlencode({"path": path, "sn": sn})
    reported = ask(context, port, "GET", f"/api/pool/look?{asked}")
    print(json.dumps(reported, indent=1))
