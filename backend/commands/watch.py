"""`./cloverlab watch`: the events of the running cluster as JSON lines."""

from __future__ import annotations

import json
import sys
import time
from typing import Annotated, Any
from urllib.parse import urlencode

import typer

from backend.commands.options import Port, ask, look
from backend.suggestion import nearest

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
    if servers:
        warn_of_unknown(servers, look(context, port, "/api/cluster"))
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


def warn_of_unknown(names: list[str], cluster: dict[str, Any]) -> None:
    """A server that has been removed has events, too: its name is no mistake."""
    processes = [*cluster["servers"], *cluster["nodes"], *cluster["clients"]]
    known = [each["name"] for each in processes] + ["coordination", "control", "checks"]
    for name in names:
        if name not in known:
            print(f"cloverlab: no process is called {name[:40]!r} now{nearest(name, known)}", file=sys.stderr)
