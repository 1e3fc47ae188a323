"""Options that several commands have, and the port that a command speaks to."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from backend.names import DEFAULT_PORT

LOOK_S = 10.0
"""Longest time for the answer to a question about the present state."""
Port = Annotated[
    int | None,
    typer.Option(
        "--port", min=1, max=65535, metavar="N", help=f"Port of the control plane ({DEFAULT_PORT})."
    ),
]

Yes = Annotated[bool, typer.Option("--yes", help="Skip the question.")]


def inherit_port(context: typer.Context, port: Port = None) -> None:
    """Callback of a group of commands: `--port` may stand before the command's name."""
    context.obj = port or (context.parent.obj if context.parent else None)


def port_of(context: typer.Context, port: int | None) -> int:
    return port or context.obj or DEFAULT_PORT


def ask(
    context: typer.Context, port: int | None, method: str, path: str, body: dict[str, Any] | None = None
) -> Any:
    """The response of the control plane. Raises LabError."""
    from backend import remote_requests

    return remote_requests.ask(port_of(context, port), method, path, body)


def look(context: typer.Context, port: int | None, path: str, timeout_s: float = LOOK_S) -> Any:
    """What the control plane reports at once. Raises LabError."""
    from backend import remote_requests

    return remote_requests.ask(port_of(context, port), "GET", path, timeout_s=timeout_s)


def agreed(question: str) -> bool:
    """Asks on the terminal; no answer is no."""
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
