"""`./cloverlab handover`: the active role of a group passes to a standby, in order."""

from __future__ import annotations

import sys
from typing import Annotated
from urllib.parse import quote

import typer

from backend.commands.options import Port, ask
from backend.commands.output import Format, Output, show
from backend.errors import Exit

app = typer.Typer()


@app.command()
def handover(
    context: typer.Context,
    group: Annotated[str, typer.Argument(metavar="GROUP", help="A group that is served: g1.")],
    server: Annotated[
        str,
        typer.Argument(metavar="[SERVER]", help="The successor, a standby; by default any that is in step."),
    ] = "",
    output: Output = Format.TABLE,
    port: Port = None,
) -> None:
    """Hand the active role over to a standby, without a fault. Calls wait for some milliseconds meanwhile.

    If the successor falls out before the lock is released, the active goes on, and the exit code is 3.
    """
    path = f"/api/groups/{quote(group, safe='')}/handover"
    done = ask(context, port, "POST", path, {"server": server})
    show(output, done, [done])
    if server and done["new"] != server:
        print(
            f"cloverlab: {done['new']} serves in place of {server}, which failed meanwhile", file=sys.stderr
        )
        raise typer.Exit(Exit.FAILED)
