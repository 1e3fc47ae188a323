"""`./cloverlab fs`: the file system of the running cluster, through the smart client."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

import typer

from backend.commands.options import Port, ask, inherit_port, port_of
from backend.errors import Malformed, reason_of

app = typer.Typer()
fs = typer.Typer(no_args_is_help=True, help="The file system, through the smart client.")
fs.callback()(inherit_port)
app.add_typer(fs, name="fs")


def call(context: typer.Context, port: int | None, do: str, path: str, **options: Any) -> Any:
    return ask(context, port, "POST", "/api/fs", {"do": do, "path": path, **options})["result"]


@fs.command()
def ls(context: typer.Context, path: str, port: Port = None) -> None:
    """List a directory."""
    after = ""
    while True:
        listing = call(context, port, "ls", path, after=after)
        for name in listing["names"]:
            print(name)
        if not listing["more"]:
            return
        after = listing["names"][-1]


@fs.command()
def mkdir(
    context: typer.Context,
    path: str,
    parents: Annotated[bool, typer.Option("--parents", "-p")] = False,
    port: Port = None,
) -> None:
    """Create a directory."""
    call(context, port, "mkdir", path, parents=parents)


@fs.command()
def create(context: typer.Context, path: str, port: Port = None) -> None:
    """Create an empty file."""
    call(context, port, "create", path)


@fs.command()
def put(
    context: typer.Context,
    local: Annotated[str, typer.Argument(help="A file, or - for standard input.")],
    path: str,
    block_size: Annotated[
        int, typer.Option("--block-size", help="Bytes: a multiple of 512, at most 134217728.")
    ] = 65_536,
    port: Port = None,
) -> None:
    """Create a file with the content of a local one."""
    send(context, port, "PUT", local, path, block_size=str(block_size))


@fs.command()
def append(
    context: typer.Context,
    local: Annotated[str, typer.Argument(help="A file, or - for standard input.")],
    path: str,
    force: Annotated[
        bool, typer.Option("--force", help="Append even while another client writes the file.")
    ] = False,
    port: Port = None,
) -> None:
    """Append the content of a local file to a file."""
    send(context, port, "POST", local, path, force=str(force).lower())


def send(
    context: typer.Context, port: int | None, method: str, local: str, path: str, **options: str
) -> None:
    from backend import remote

    try:
        with sys.stdin.buffer if local == "-" else Path(local).open("rb") as file:
            reported = remote.send(port_of(context, port), method, content_path(path, **options), file)
    except OSError as error:
        raise Malformed(f"cannot read {local}: {reason_of(error)}") from None
    print(json.dumps(reported))


@fs.command()
def get(
    context: typer.Context,
    path: str,
    local: Annotated[str, typer.Argument(help="A file, or - for standard output.")] = "-",
    port: Port = None,
) -> None:
    """Copy the content of a file to a local file or to standard output."""
    from backend import remote

    try:
        with sys.stdout.buffer if local == "-" else Path(local).open("wb") as file:
            remote.receive(port_of(context, port), content_path(path), file)
    except OSError as error:
        raise Malformed(f"cannot write {local}: {reason_of(error)}") from None


def content_path(path: str, **options: str) -> str:
    return "/api/fs/content?" + urlencode({"path": path, **options})


@fs.command()
def mv(context: typer.Context, path: str, to: str, overwrite: bool = False, port: Port = None) -> None:
    """Rename a file or a directory."""
    call(context, port, "mv", path, to=to, overwrite=overwrite)


@fs.command()
def ln(context: typer.Context, path: str, to: str, port: Port = None) -> None:
    """Give a file another name, in the same or another directory."""
    call(context, port, "ln", path, to=to)


@fs.command()
def rm(
    context: typer.Context,
    path: str,
    recursive: Annotated[bool, typer.Option("--recursive", "-r")] = False,
    port: Port = None,
) -> None:
    """Remove a file, or a directory."""
    call(context, port, "rm", path, recursive=recursive)


@fs.command()
def stat(context: typer.Context, path: str, port: Port = None) -> None:
    """Show the attributes of a file or directory."""
    print(json.dumps(call(context, port, "stat", path), indent=1))
