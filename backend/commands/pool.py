"""`./cloverlab pool`: the content of the storage pool."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

import typer

from backend.commands.options import Port, ask, inherit_port
from backend.commands.output import Format, Output, show

app = typer.Typer()
pool = typer.Typer(no_args_is_help=True, help="The storage pool and its images.")
pool.callback()(inherit_port)
app.add_typer(pool, name="pool")


@pool.command()
def look(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH")],
    sn: Annotated[
        int, typer.Option(min=0, metavar="N", help="Sn of the image; by default the newest of the group.")
    ] = 0,
    output: Output = Format.TABLE,
    port: Port = None,
) -> None:
    """Look a path up in an image, and show the partitions that were loaded for it."""
    asked = urlencode({"path": path, "sn": sn})
    reported = ask(context, port, "GET", f"/api/pool/look?{asked}")
    show(output, reported)
