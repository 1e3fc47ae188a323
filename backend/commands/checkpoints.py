"""`./cloverlab checkpoint`: marks the state of the whole cluster, lists checkpoints, rolls back to one, deletes one, and makes backups."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import quote

import typer

from backend.commands import backups
from backend.commands.options import Port, Yes, agreed, ask, inherit_port
from backend.commands.output import Format, OldJson, Output, chosen, show
from backend.errors import Impossible

app = typer.Typer()
checkpoint = typer.Typer(no_args_is_help=True, help="Checkpoints of the whole cluster, and recovery to one.")
checkpoint.callback()(inherit_port)
checkpoint.add_typer(backups.app)
app.add_typer(checkpoint, name="checkpoint")
PATH = "/api/checkpoints"
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the checkpoint.")]


@checkpoint.command()
def mark(context: typer.Context, name: Name, output: Output = Format.TABLE, port: Port = None) -> None:
    """Mark the present state of all groups under a name."""
    show(output, ask(context, port, "POST", PATH, {"name": name}))


@checkpoint.command("list")
def list_all(
    context: typer.Context,
    port: Port = None,
    output: Output = Format.TABLE,
    as_json: OldJson = False,
) -> None:
    """List the checkpoints, oldest first."""
    reported = ask(context, port, "GET", PATH)
    rows = [row(each) for each in reported["checkpoints"]]
    show(chosen(output, as_json), reported, rows)


def row(marked: dict[str, Any]) -> dict[str, str]:
    when = datetime.fromtimestamp(marked["stamp_ns"] / 1e9, UTC) if marked["stamp_ns"] else None
    barriers = " ".join(f"{group}:{barrier['sn']}" for group, barrier in marked["barriers"].items())
    return {
        "checkpoint": marked["name"],
        "state": marked["state"],
        "time": when.strftime("%Y-%m-%d %H:%M:%S") if when else "-",
        "barriers": barriers or "-",
    }


@checkpoint.command()
def recover(
    context: typer.Context,
    name: Name,
    output: Output = Format.TABLE,
    port: Port = None,
    yes: Yes = False,
) -> None:
    """Roll the whole cluster back to a checkpoint; later operations are set aside, not deleted."""
    behind = ask(context, port, "GET", f"{PATH}/{quote(name, safe='')}/behind")
    line = f"{behind['operations']} operations in {behind['groups']} journal groups come after {name} and are set aside"
    print(line, file=sys.stderr)
    if not yes and not agreed(f"Take the whole cluster back to {name}?"):
        raise Impossible("the cluster was not changed: answer y, or pass --yes")
    show(output, ask(context, port, "POST", f"{PATH}/recover", {"name": name, "confirmed": True}))


@checkpoint.command()
def delete(context: typer.Context, name: Name, output: Output = Format.TABLE, port: Port = None) -> None:
    """Delete a checkpoint; the files kept for it are removed in time."""
    show(output, ask(context, port, "DELETE", f"{PATH}/{quote(name, safe='')}"))
