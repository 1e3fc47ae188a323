"""`./cloverlab watch`: the events of the running cluster as JSON lines."""

from __future__ import annotations

import json
import sys
import time
from typing import Annotated
from urllib.parse import urlencode

import typer

from backend.commands.options import Port, ask

app = typer.Typer()
LOOK_S = 0.25
PAGE = 1_000


@app.command()
def watch(
    context: typer.Context,
    after: Annotated[
        int | None,
        typer.Option(
            "--after", min=0, metavar="SEQ", help="Begin after this event of the present run; now by default."
        ),
    ] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="KIND", help="Only such events, e.g. RoleChanged; repeatable."),
    ] = None,
    servers: Annotated[
        list[str] | None,
        typer.Option("--server", metavar="NAME", help="Only events of this server; repeatable."),
    ] = None,
    port: Port = None,
) -> None:
    """Print events as they happen, a JSON object a line, until Ctrl-C or until the reader closes the pipe."""
    run = next(each for each in ask(context, port, "GET", "/api/runs") if each["live"])
    seq = run["last_seq"] if after is None else after
    wanted = {"kinds": ",".join(kinds or ()), "servers": ",".join(servers or ()), "limit": PAGE}
    while True:
        page = ask(
            context, port, "GET", f"/api/runs/{run['run']}/events?{urlencode({'after': seq, **wanted})}"
        )
        for event in page["events"]:
            print(json.dumps(event))
        sys.stdout.flush()
        if page["left_out"]:
            print(f"cloverlab: {page['left_out']} events are not kept any more", file=sys.stderr)
        seq = page["next"]
        if len(page["events"]) < PAGE:
            time.sleep(LOOK_S)
