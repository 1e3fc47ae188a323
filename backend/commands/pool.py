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
Group = Annotated[str, typer.Argument(metavar="GROUP", help="A group that is served: g1.")]


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


@pool.command()
def image(context: typer.Context, group: Group, output: Output = Format.TABLE, port: Port = None) -> None:
    """Take an image of a group's namespace now, and print the active that sees to it."""
    order(context, port, output, group, "image")


@pool.command()
def check(context: typer.Context, group: Group, output: Output = Format.TABLE, port: Port = None) -> None:
    """Read every replica of a group's files again and compare them, and print the active that sees to it."""
    order(context, port, output, group, "check")


def order(context: typer.Context, port: Port, output: Format, group: str, do: str) -> None:
    ordered = ask(context, port, "POST", "/api/pool", {"group": group, "do": do})
    show(output, ordered, [ordered])
