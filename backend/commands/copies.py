"""`./cloverlab fs put` and `get`: copies between the local file system and the cluster's, of files and of whole trees."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from backend.commands.contents import Remote, Source, fetch, print_content, replacing, send
from backend.commands.listing import call, entries_in
from backend.commands.options import Port
from backend.commands.output import Format, Output, show
from backend.errors import Malformed, reason_of

app = typer.Typer()
Recursive = Annotated[
    bool, typer.Option("--recursive", "-r", help="Copy a directory with everything below it.")
]


@app.command()
def put(
    context: typer.Context,
    local: Source,
    path: Remote,
    recursive: Recursive = False,
    block_size: Annotated[
        int,
        typer.Option("--block-size", metavar="BYTES", help="A multiple of 512, at most 134217728."),
    ] = 65_536,
    output: Output = Format.TABLE,
    port: Port = None,
) -> None:
    """Create a file with the content of a local one; with -r, a directory with everything below a local one."""
    size = str(block_size)
    if recursive and local != "-" and Path(local).is_dir():
        show(output, put_tree(context, port, Path(local), path.rstrip("/"), size))
    else:
        show(output, send(context, port, "PUT", local, path, block_size=size))


def put_tree(
    context: typer.Context, port: int | None, local: Path, path: str, block_size: str
) -> dict[str, int]:
    """Links are not followed, and nothing but files and directories is copied; the rest is named on standard error.

    An existing directory takes the new files in; an existing file is never replaced.
    """
    done = {"directories": 0, "files": 0, "size": 0}
    for directory, below, names in os.walk(local, onerror=unreadable):
        check_unicode([*below, *names])
        place = Path(directory).relative_to(local).as_posix()
        there = path if place == "." else f"{path}/{place}"
        if there:
            call(context, port, "mkdir", there, parents=True)
        done["directories"] += 1
        for name in sorted(names):
            file = Path(directory, name)
            if file.is_symlink() or not file.is_file():
                print(f"cloverlab: {file} is no ordinary file and was left out", file=sys.stderr)
                continue
            done["files"] += 1
            if file.stat().st_size:
                done["size"] += send(
                    context, port, "PUT", str(file), f"{there}/{name}", block_size=block_size
                )["size"]
            else:
                call(context, port, "create", f"{there}/{name}")
    return done


def check_unicode(names: list[str]) -> None:
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise Malformed(f"the local name {name!a} is not Unicode text") from None


def unreadable(error: OSError) -> None:
    raise Malformed(f"cannot read {error.filename}: {reason_of(error)}")


@app.command()
def get(
    context: typer.Context,
    path: Remote,
    local: Annotated[str, typer.Argument(metavar="[LOCAL]", help="A file, or - for standard output.")] = "-",
    recursive: Recursive = False,
    output: Output = Format.TABLE,
    port: Port = None,
) -> None:
    """Copy the content of a file to a local file or to standard output; with -r, a directory to a local one.

    A local file is replaced when the whole content has come, and not before.
    """
    if recursive and call(context, port, "stat", path)["kind"] == "directory":
        if local == "-":
            raise Malformed("-r needs the name of a local directory")
        show(output, get_tree(context, port, path.rstrip("/"), Path(local)))
    elif local == "-":
        print_content(context, port, path)
    else:
        fetch(context, port, path, Path(local))


def get_tree(context: typer.Context, port: int | None, path: str, local: Path) -> dict[str, int]:
    done = {"directories": 0, "files": 0, "size": 0}
    ahead = [(path, local)]
    while ahead:
        there, here = ahead.pop()
        make(here)
        done["directories"] += 1
        for entry in entries_in(context, port, there or "/"):
            pair = f"{there}/{entry['name']}", here / entry["name"]
            if entry["kind"] == "directory":
                ahead.append(pair)
                continue
            if entry["length"]:
                fetch(context, port, *pair)
            else:
                make_empty(pair[1])
            done["files"] += 1
            done["size"] += entry["length"]
    return done


def make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Malformed(f"cannot create {directory}: {reason_of(error)}") from None


def make_empty(file: Path) -> None:
    try:
        with replacing(file):
            pass
    except OSError as error:
        raise Malformed(f"cannot write {file}: {reason_of(error)}") from None
