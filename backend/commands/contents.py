"""`./cloverlab fs put`, `append`, `get`, `cat` and `tail`: the content of one file."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, BinaryIO
from urllib.parse import urlencode

import typer

from backend.commands.listing import call
from backend.commands.options import Port, port_of
from backend.commands.output import Format, Output, show
from backend.errors import Malformed, reason_of

app = typer.Typer()
LOOK_S = 1.0
WINDOW_BYTES = 1 << 16
Source = Annotated[str, typer.Argument(metavar="LOCAL", help="A file, or - for standard input.")]
Remote = Annotated[str, typer.Argument(metavar="PATH")]


def content_path(path: str, **options: object) -> str:
    return "/api/fs/content?" + urlencode({"path": path, **options})


def send(
    context: typer.Context, port: int | None, method: str, local: str, path: str, **options: str
) -> dict[str, Any]:
    from backend import remote_requests

    try:
        with sys.stdin.buffer if local == "-" else Path(local).open("rb") as file:
            reported: dict[str, Any] = remote_requests.send(
                port_of(context, port), method, content_path(path, **options), file
            )
    except OSError as error:
        raise Malformed(f"cannot read {local}: {reason_of(error)}") from None
    return reported


def receive(context: typer.Context, port: int | None, path: str, file: BinaryIO, start: int = 0) -> None:
    from backend import remote_requests

    remote_requests.receive(port_of(context, port), content_path(path, start=start), file)


def print_content(context: typer.Context, port: int | None, path: str, start: int = 0) -> None:
    """Writes a file's content to standard output. A closed pipe ends the command (`backend.cli`)."""
    out = sys.stdout.buffer
    try:
        receive(context, port, path, out, start)
        out.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Malformed(f"cannot write to standard output: {reason_of(error)}") from None


@contextlib.contextmanager
def replacing(local: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `local` when the block ends without an error: `local` is old or new, never half.

    Something that is no ordinary file, such as a pipe, is written directly.
    """
    if local.exists() and not local.is_file():
        with local.open("wb") as file:
            yield file
        return
    part = local.with_name(f"{local.name}.part")
    try:
        with part.open("wb") as file:
            yield file
        os.replace(part, local)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def fetch(context: typer.Context, port: int | None, path: str, local: Path) -> None:
    """Copies a file's content to a local file."""
    try:
        with replacing(local) as file:
            receive(context, port, path, file)
    except OSError as error:
        raise Malformed(f"cannot write {local}: {reason_of(error)}") from None


@app.command()
def append(
    context: typer.Context,
    local: Source,
    path: Remote,
    force: Annotated[
        bool, typer.Option("--force", help="Append even while another client writes the file.")
    ] = False,
    output: Output = Format.TABLE,
    port: Port = None,
) -> None:
    """Append the content of a local file to a file."""
    show(output, send(context, port, "POST", local, path, force=str(force).lower()))


@app.command()
def cat(
    context: typer.Context,
    paths: Annotated[list[str], typer.Argument(metavar="PATH...")],
    port: Port = None,
) -> None:
    """Write the content of files to standard output, one after the other."""
    for path in paths:
        print_content(context, port, path)


@app.command()
def tail(
    context: typer.Context,
    path: Remote,
    lines: Annotated[
        int, typer.Option("--lines", "-n", min=0, metavar="N", help="Number of last lines.")
    ] = 10,
    size: Annotated[
        int | None, typer.Option("--bytes", "-c", min=0, metavar="N", help="Number of last bytes instead.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what is appended, until Ctrl-C.")
    ] = False,
    port: Port = None,
) -> None:
    """Write the end of a file to standard output. Blocks that are being written do not belong to it yet."""
    found = call(context, port, "stat", path)
    length = int(found["length"])
    if size is None:
        sys.stdout.buffer.write(last_lines(context, port, path, lines, length))
        sys.stdout.buffer.flush()
    elif size:
        print_content(context, port, path, max(0, length - size))
    while follow:
        time.sleep(LOOK_S)
        now = call(context, port, "stat", path)
        if now["inode"] != found["inode"] or now["length"] < length:
            raise Malformed(f"{path} is another file now")
        if now["length"] > length:
            print_content(context, port, path, length)
            length = now["length"]


def last_lines(context: typer.Context, port: int | None, path: str, lines: int, length: int) -> bytes:
    """The last lines of a file of this length; more and more of its end is read until they are in it."""
    window = WINDOW_BYTES
    while True:
        start = max(0, length - window)
        end = io.BytesIO()
        if lines and length:
            receive(context, port, path, end, start)
        data = end.getvalue()[: length - start]
        found = data.splitlines(keepends=True)
        if len(found) > lines or not start or not lines:
            return b"".join(found[max(0, len(found) - lines) :])
        window *= 4
