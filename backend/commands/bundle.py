"""`./cloverlab bundle`: what a bug report needs, in one archive without secrets."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from backend import registry
from backend.bundle import directory, history
from backend.bundle.archive import Archive, writing
from backend.bundle.redaction import Redaction, secrets_of
from backend.commands.options import Port, port_of
from backend.commands.output import Format, Output, show
from backend.errors import LabError, Malformed, NotThere, Unavailable, reason_of
from backend.settings import data_of
from backend.version import version

app = typer.Typer()


class Report:
    """Members of one archive, and what could not be had of them."""

    def __init__(self, archive: Archive):
        self._archive = archive
        self.left_out: list[str] = []

    def add(self, members: history.Members) -> None:
        for name, data in members.items():
            self._archive.add(name, data)

    def add_read(self, name: str, read: Callable[[], bytes]) -> None:
        """Adds what can be read; otherwise a line says why not."""
        try:
            data = read()
        except LabError as error:
            self.leave_out(error.message)
        except OSError as error:
            self.leave_out(f"cannot read {error.filename}: {reason_of(error)}")
        else:
            self.add({name: data})

    def leave_out(self, line: str) -> None:
        self.left_out.append(line)
        say(line)

    def add_history(self, port: int | None, data: Path | None) -> None:
        """From the control plane at a port, or else from the data directory. Raises LabError when there is neither."""
        try:
            if port is None:
                raise Unavailable(f"no control plane runs with {data}")
            members = history.from_control_plane(port)
        except LabError as error:
            if data is None:
                error.message += "; --data DIR or --name NAME names a cluster that does not run"
                raise
            self.leave_out(f"{error.message}; the bundle is made from {data} alone")
            self.add_store(data / "events.db")
        else:
            self.add(members)
            if data is not None:
                self.add_story(data / "events.db")

    def add_store(self, store: Path) -> None:
        try:
            members = asyncio.run(history.from_store(store))
        except LabError as error:
            self.leave_out(error.message)
        else:
            self.add(members)
            self.add_story(store)

    def add_story(self, store: Path) -> None:
        self.add_read("story.jsonl", lambda: asyncio.run(history.story(store)))

    def add_directory(self, data: Path) -> None:
        """The configuration, ends of logs and sizes of files, as far as they can be read."""
        self.add_read("cluster.json", partial(directory.configuration, data))
        for log in directory.logs(data):
            self.add_read(f"logs/{log.name}", partial(directory.tail, log))
        self.add_read("files.txt", partial(directory.listing, data))

    def add_versions(self) -> None:
        about = {
            "cloverlab": version(),
            "python": sys.version,
            "system": platform.platform(),
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "left_out": self.left_out,
        }
        self.add({"about.json": history.document(about)})


@app.command()
def bundle(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE.tar.gz", help="The archive; it does not exist yet.")],
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The data directory, of a cluster that need not run."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The same, by the name of the cluster.")
    ] = None,
    output: Output = Format.TABLE,
    port: Port = None,
) -> None:
    """Collect what a bug report needs: versions, configuration, status, invariants, newest events, ends of logs, sizes of files.

    It has no secrets of the cluster, and no content of its files, journals and images. Names of files, servers and directories are in it.
    """
    if data is not None and name is not None:
        raise Malformed("--data and --name both choose the data directory: give one of them")
    given = data if name is None else data_of(name)
    where, at = located(given) if given is not None else registered(port_of(context, port))
    with writing(file, Redaction(secrets_of(where))) as archive:
        report = Report(archive)
        report.add_history(at, where)
        if where is None:
            report.leave_out(
                f"the data directory of port {at} is not on this machine: no logs, no configuration"
            )
        else:
            report.add_directory(where)
        report.add_versions()
    done = {"file": str(file), "bytes": file.stat().st_size, "left_out": report.left_out}
    show(output, done, [done | {"left_out": len(report.left_out)}])


def located(data: Path) -> tuple[Path, int | None]:
    """A data directory, and the port of the control plane that runs with it. Raises NotThere."""
    data = data.expanduser().resolve()
    if not os.access(data / "cluster.json", os.F_OK):
        raise NotThere(f"{data} has no cluster, or is not this user's")
    ports = [plane.port for plane in registry.listed() if plane.runs and Path(plane.data).resolve() == data]
    return data, ports[0] if ports else None


def registered(port: int) -> tuple[Path | None, int]:
    """The data directory of the control plane at a port, when it is on this machine; and that port."""
    return next((Path(plane.data) for plane in registry.listed() if plane.port == port), None), port


def say(line: str) -> None:
    print(f"cloverlab: {line}", file=sys.stderr)
