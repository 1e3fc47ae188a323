"""`./cloverlab wait`: until a condition of a scenario holds in the running cluster."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from backend.commands.options import LOOK_S, Port, look
from backend.errors import Exit, Unavailable
from backend.picture import GroupState, Picture, ServerState
from backend.scenarios.conditions import OF_STATE, holds_now, state_condition
from backend.status import problems

app = typer.Typer()
POLL_S = 0.1


@app.command("wait", epilog=f"Conditions, as in `when:` of a scenario: {OF_STATE}.")
def wait_for(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="CONDITION...", help="settled, or a sentence about roles.")
    ],
    timeout: Annotated[
        float,
        typer.Option(
            min=0,
            max=86_400,
            metavar="S",
            help="Seconds, after which the exit code is 1, or 4 without an answer.",
        ),
    ] = 60.0,
    port: Port = None,
) -> None:
    """Wait until a condition holds; a control plane that does not answer yet is waited for, too. A server or group must exist."""
    text = " ".join(words)
    state_condition(text)
    deadline = time.monotonic() + timeout
    while True:
        left_s = deadline - time.monotonic()
        found: list[str] = []
        try:
            cluster = look(context, port, "/api/cluster", min(LOOK_S, max(POLL_S, left_s)))
            if holds_now(text, picture_of(cluster)):
                return
            found = problems(cluster)
        except Unavailable:
            if time.monotonic() > deadline:
                raise
        if time.monotonic() > deadline:
            why = f" ({', '.join(found)})" if found else ""
            typer.echo(f"cloverlab: not within {timeout:g} s: {text}{why}", err=True)
            raise typer.Exit(Exit.FAILED)
        time.sleep(POLL_S)


def picture_of(cluster: dict[str, Any]) -> Picture:
    """The state that `GET /api/cluster` reports."""
    import msgspec

    servers = [msgspec.convert(server, ServerState) for server in cluster["servers"]]
    groups = [GroupState(group["name"]) for group in cluster["groups"]]
    return Picture(
        servers={server.name: server for server in servers}, groups={group.name: group for group in groups}
    )
