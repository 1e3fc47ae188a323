"""`./cloverlab checkpoint export` and `import`: a backup outside of the cluster, and its return into any other one."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO
from urllib.parse import quote, urlencode

import msgspec
import typer

from backend.commands.contents import replacing
from backend.commands.options import Port, port_of
from backend.commands.output import Format, Output, show
from backend.errors import Malformed, Unavailable, reason_of

app = typer.Typer()
PATH = "/api/checkpoints"
PIECE_BYTES = 1 << 20
SHOWN_EVERY_S = 2.0


class ProgressLines:
    """Lines on standard error, for what takes longer than two seconds."""

    def __init__(self, verb: str, whole: int = 0):
        """`whole`: bytes in all; 0 when they are not known."""
        self._verb = verb
        self._whole = whole
        self._began_s = self._shown_s = time.monotonic()
        self._done = 0

    def advance(self, size: int) -> None:
        self._done += size
        now_s = time.monotonic()
        if now_s - self._shown_s < SHOWN_EVERY_S:
            return
        self._shown_s = now_s
        left = ""
        if self._whole and self._done:
            left_s = (now_s - self._began_s) * (self._whole - self._done) / self._done
            left = f" of {self._whole / 1e6:.1f}, some {left_s:.0f} s left"
        print(f"cloverlab: {self._verb} {self._done / 1e6:.1f} MB{left}", file=sys.stderr)


class CheckedBackup:
    """A local file that takes a backup and checks it on its way. Raises Unavailable when the cluster could not send the whole."""

    def __init__(self, file: BinaryIO):
        from nodes.backup.decoder import BackupReader

        self._file = file
        self._progress = ProgressLines("exported")
        self.reader = BackupReader()

    def write(self, data: bytes, /) -> int:
        from nodes.backup.records import BackupDamaged

        try:
            for _ in self.reader.records(data):
                pass
        except BackupDamaged as error:
            raise Unavailable(f"the backup is not whole: {error}") from None
        self._progress.advance(len(data))
        return self._file.write(data)


class SentBackup:
    """A local file that shows how much of it has been read."""

    def __init__(self, file: BinaryIO, size: int):
        self._file = file
        self._progress = ProgressLines("imported", size)

    def read(self, size: int, /) -> bytes:
        data = self._file.read(size)
        self._progress.advance(len(data))
        return data


@contextlib.contextmanager
def exported_file(path: Path) -> Iterator[BinaryIO]:
    """A file that is on the disk before it takes the place of `path`, when the block ends without an error. Raises Malformed."""
    try:
        with replacing(path) as file:
            yield file
            file.flush()
            if file.seekable():
                os.fsync(file.fileno())
    except OSError as error:
        raise Malformed(f"cannot write {path}: {reason_of(error)}") from None


@app.command("export")
def export_checkpoint(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the checkpoint.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The backup; it is replaced if it exists.")],
    output: Output = Format.TABLE,
    port: Port = None,
) -> None:
    """Write a checkpoint to a file: every directory and file as they were at its barrier, with their content.

    The file is there when the whole backup has come and is on the disk, and not before.
    """
    from backend import remote_requests
    from nodes.backup.records import BackupDamaged

    try:
        with exported_file(file) as local:
            checked = CheckedBackup(local)
            remote_requests.receive(port_of(context, port), f"{PATH}/{quote(name, safe='')}/export", checked)
            totals = checked.reader.finish()
    except BackupDamaged as error:
        raise Unavailable(f"the backup is not whole: {error}") from None
    show(output, {"checkpoint": name, "file": str(file), **msgspec.structs.asdict(totals)})


@app.command("import")
def import_backup(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup that `checkpoint export` wrote.")],
    into: Annotated[
        str, typer.Option("--into", metavar="PATH", help="A directory that is empty or does not exist.")
    ] = "/",
    again: Annotated[
        bool,
        typer.Option(
            "--continue", help="Go on behind an import of this file that broke off: whole objects stay."
        ),
    ] = False,
    output: Output = Format.TABLE,
    port: Port = None,
) -> None:
    """Create the tree of a backup in the running cluster, of any protocol and number of groups.

    The whole file is checked before anything is created. An import that breaks off says what it has created; `--continue` goes on behind that.
    """
    from backend import remote_requests

    try:
        with file.open("rb") as local:
            size = check(file, local)
            local.seek(0)
            where = f"{PATH}/import?" + urlencode({"into": into, "size": size, "again": again})
            source = SentBackup(local, file.stat().st_size)
            show(output, remote_requests.send(port_of(context, port), "POST", where, source))
    except OSError as error:
        raise Malformed(f"cannot read {file}: {reason_of(error)}") from None


def check(path: Path, file: BinaryIO) -> int:
    """Reads a backup from end to end; returns the bytes of content in it. Raises Malformed."""
    from nodes.backup.decoder import BackupReader
    from nodes.backup.records import BackupDamaged

    reader, progress = BackupReader(), ProgressLines("checked", path.stat().st_size)
    try:
        while piece := file.read(PIECE_BYTES):
            for _ in reader.records(piece):
                pass
            progress.advance(len(piece))
        return reader.finish().size
    except BackupDamaged as error:
        raise Malformed(f"{path} cannot be imported: {error}") from None
