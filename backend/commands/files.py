"""`./cloverlab fs`: the names of the running cluster's file system, through the smart client."""

from __future__ import annotations

import stat as modes
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from backend.commands import consistency, contents, copies
from backend.commands.listing import call, entries_in, names_in
from backend.commands.names import shown
from backend.commands.options import Port, inherit_port
from backend.commands.output import Format, Output, show
from backend.errors import Malformed
from backend.tables import aligned

app = typer.Typer()
fs = typer.Typer(no_args_is_help=True, help="The file system, through the smart client.")
fs.callback()(inherit_port)
fs.add_typer(contents.app)
fs.add_typer(copies.app)
fs.add_typer(consistency.app)
app.add_typer(fs, name="fs")

Path = Annotated[str, typer.Argument(metavar="PATH")]
Paths = Annotated[list[str], typer.Argument(metavar="PATH...")]


@fs.command()
def ls(
    context: typer.Context,
    paths: Paths,
    long: Annotated[
        bool, typer.Option("--long", "-l", help="With kind, permission, size and time of the last change.")
    ] = False,
    output: Output = Format.TABLE,
    port: Port = None,
) -> None:
    """List directories."""
    listed = []
    for path in paths:
        found = call(context, port, "stat", path)
        if found["kind"] == "file":
            names: Iterator[Any] = iter([{**found, "name": path} if long else path])
        else:
            names = (entries_in if long else names_in)(context, port, path)
        if output is Format.JSON:
            listed.append({"path": path, "entries": list(names)})
        else:
            print_names(path if len(paths) > 1 else "", names, long)
    if output is Format.JSON:
        show(output, listed)


def print_names(head: str, names: Iterator[Any], long: bool) -> None:
    if head:
        print(f"{shown(head)}:")
    if not long:
        for name in names:
            print(shown(name))
    elif rows := [long_row(each) for each in names]:
        print(aligned(rows))


def long_row(entry: dict[str, Any]) -> tuple[str, str, str, str]:
    """As `ls -l` has it, without owner: mode, bytes, time in UTC, name."""
    kind = modes.S_IFDIR if entry["kind"] == "directory" else modes.S_IFREG
    changed = datetime.fromtimestamp(entry["mtime_ns"] // 1_000_000_000, UTC)
    mode = modes.filemode(kind | entry["mode"])
    return mode, f"{entry['length']:>12}", f"{changed:%Y-%m-%d %H:%M:%S}", shown(entry["name"])


@fs.command()
def du(context: typer.Context, paths: Paths, output: Output = Format.TABLE, port: Port = None) -> None:
    """Count bytes, files and directories below each path."""
    rows = []
    for path in paths:
        found = call(context, port, "du", path)
        rows.append({"bytes": found["size"], "files": found["files"], "directories": found["directories"]})
        rows[-1]["path"] = path if output is Format.JSON else shown(path)
    show(output, rows)


@fs.command()
def mkdir(
    context: typer.Context,
    path: Path,
    parents: Annotated[
        bool,
        typer.Option("--parents", "-p", help="Create missing parents, too; accept an existing directory."),
    ] = False,
    port: Port = None,
) -> None:
    """Create a directory."""
    call(context, port, "mkdir", path, parents=parents)


@fs.command()
def create(context: typer.Context, path: Path, port: Port = None) -> None:
    """Create an empty file."""
    call(context, port, "create", path)


@fs.command()
def touch(context: typer.Context, paths: Paths, port: Port = None) -> None:
    """Set the times of each file or directory to now; create an empty file where there is none."""
    for path in paths:
        call(context, port, "touch", path)


@fs.command()
def chmod(
    context: typer.Context,
    mode: Annotated[str, typer.Argument(metavar="MODE", help="Permission bits in octal: 644.")],
    paths: Paths,
    port: Port = None,
) -> None:
    """Set the permission bits of files and directories."""
    if not mode or set(mode) - set("01234567") or len(mode) > 4:
        raise Malformed(f"MODE is up to four octal digits such as 644, not {mode[:20]!r}")
    for path in paths:
        call(context, port, "chmod", path, mode=int(mode, 8))


@fs.command()
def mv(
    context: typer.Context,
    path: Path,
    to: Annotated[str, typer.Argument(metavar="TO")],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing file, or an empty directory.")
    ] = False,
    port: Port = None,
) -> None:
    """Rename a file or a directory."""
    call(context, port, "mv", path, to=to, overwrite=overwrite)


@fs.command()
def ln(
    context: typer.Context, path: Path, to: Annotated[str, typer.Argument(metavar="TO")], port: Port = None
) -> None:
    """Give a file another name, in the same or another directory."""
    call(context, port, "ln", path, to=to)


@fs.command()
def rm(
    context: typer.Context,
    path: Path,
    recursive: Annotated[
        bool, typer.Option("--recursive", "-r", help="Remove a directory with its content.")
    ] = False,
    port: Port = None,
) -> None:
    """Remove a file, or a directory."""
    call(context, port, "rm", path, recursive=recursive)


@fs.command()
def stat(context: typer.Context, path: Path, output: Output = Format.TABLE, port: Port = None) -> None:
    """Show the attributes of a file or directory."""
    show(output, call(context, port, "stat", path))
