"""`./cloverlab checkpoint`: marks the state of the whole cluster, lists checkpoints, rolls back to one, deletes one."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import quote

import typer

from backend.errors import Impossible
from backend.settings import DEFAULT_PORT

app = typer.Typer(no_args_is_help=True, help="Checkpoints of the whole cluster, and recovery to one.")
Port = Annotated[int | None, typer.Option("--port", min=1, max=65535)]


@app.callback()
def main(context: typer.Context, port: Port = None) -> None:
    context.obj = port or (context.parent.obj if context.parent else None)


def ask(
    context: typer.Context, port: int | None, method: str, path: str, body: dict[str, Any] | None = None
) -> Any:
    from backend import remote

    return remote.ask(port or context.obj or DEFAULT_PORT, method, f"/api/checkpoints{path}", body)


@app.command()
def mark(context: typer.Context, name: str, port: Port = None) -> None:
    """Mark the present state of all groups under a name."""
    print(json.dumps(ask(context, port, "POST", "", {"name": name})))


@app.command("list")
def list_all(
    context: typer.Context,
    port: Port = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List the checkpoints, oldest first."""
    from backend.status import aligned

    reported = ask(context, port, "GET", "")
    if as_json:
        print(json.dumps(reported, indent=1))
        return
    print(aligned([("checkpoint", "state", "time", "barriers"), *map(row, reported["checkpoints"])]))


def row(checkpoint: dict[str, Any]) -> tuple[str, str, str, str]:
    when = datetime.fromtimestamp(checkpoint["stamp_ns"] / 1e9, UTC) if checkpoint["stamp_ns"] else None
    barriers = " ".join(f"{group}:{barrier['sn']}" for group, barrier in checkpoint["barriers"].items())
    return (
        checkpoint["name"], checkpoint["state"], when.strftime("%Y-%m-%d %H:%M:%S") if when else "-", barriers or "-"
    )  # fmt: skip


@app.command()
def recover(
    context: typer.Context,
    name: str,
    port: Port = None,
    yes: Annotated[bool, typer.Option("--yes", help="Skip the question.")] = False,
) -> None:
    """Roll the whole cluster back to a checkpoint; later operations are set aside, not deleted."""
    behind = ask(context, port, "GET", f"/{quote(name, safe='')}/behind")
    line = f"{behind['operations']} operations in {behind['groups']} journal groups come after {name} and are set aside"
    print(line, file=sys.stderr)
    if not yes and not confirmed(name):
        raise Impossible("the cluster was not changed: answer y, or pass --yes")
    print(json.dumps(ask(context, port, "POST", "/recover", {"name": name, "confirmed": True})))


@app.command()
def delete(context: typer.Context, name: str, port: Port = None) -> None:
    """Delete a checkpoint; the files kept for it are removed in time."""
    print(json.dumps(ask(context, port, "DELETE", f"/{quote(name, safe='')}")))


def confirmed(name: str) -> bool:
    """Asks on the terminal; no answer is no."""
    print(f"Take the whole cluster back to {name}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
