"""`./cloverlab runs`: lists the runs of a cluster, writes one to a file, opens such a file as a further past run, and removes past runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from backend.commands.backups import ProgressLines, SentBackup, exported_file
from backend.commands.options import Port, Yes, agreed, ask, inherit_port, port_of
from backend.commands.output import Format, Output, show
from backend.errors import Impossible, Malformed, NotThere, Unavailable, reason_of

app = typer.Typer()
runs = typer.Typer(no_args_is_help=True, help="The runs of the cluster, and runs as files.")
runs.callback()(inherit_port)
app.add_typer(runs, name="runs")
PATH = "/api/runs"


@runs.command("list")
def list_all(context: typer.Context, output: Output = Format.TABLE, port: Port = None) -> None:
    """List the runs, newest first."""
    reported = ask(context, port, "GET", PATH)
    show(output, reported, [row(each) for each in reported])


def row(run: dict[str, Any]) -> dict[str, Any]:
    ended = "runs now" if run["live"] else run["ended_at"]
    return {
        "run": run["run"],
        "protocol": run["protocol"],
        "started": run["started_at"],
        "ended": ended,
        "from": run["origin"] or "-",
    }


class CheckedRun:
    """A local file that takes a run and checks it on its way. Raises Unavailable when it is not whole."""

    def __init__(self, file: BinaryIO):
        from backend.run_files.reader import RunFileReader

        self._file = file
        self._progress = ProgressLines("exported")
        self.reader = RunFileReader()

    def write(self, data: bytes, /) -> int:
        for _ in self.reader.lines(data):
            pass
        self._progress.advance(len(data))
        return self._file.write(data)


@runs.command("export")
def export_run(
    context: typer.Context,
    run: Annotated[int, typer.Argument(metavar="RUN", min=1, help="Number of the run.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The run; it is replaced if it exists.")],
    output: Output = Format.TABLE,
    port: Port = None,
) -> None:
    """Write a run to a file, the one that lasts too: all that is kept of it.

    The file is there when the whole run has come and is on the disk, and not before.
    """
    from backend import remote_requests
    from backend.run_files.records import RunFileDamaged

    try:
        with exported_file(file) as local:
            checked = CheckedRun(local)
            remote_requests.receive(port_of(context, port), f"{PATH}/{run}/export", checked)
            checked.reader.finish()
    except RunFileDamaged as error:
        raise Unavailable(f"the run is not whole: {error}") from None
    show(output, {"run": run, "file": str(file), "lines": checked.reader.lines_read})


@runs.command("import")
def import_run(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A run that `runs export` or the page wrote.")],
    output: Output = Format.TABLE,
    port: Port = None,
) -> None:
    """Open the file of a run as a further past run of the cluster, whatever its family; the page shows it like any other."""
    from backend import remote_requests

    try:
        with file.open("rb") as local:
            source = SentBackup(local, file.stat().st_size)
            reported = remote_requests.send(port_of(context, port), "POST", f"{PATH}/import", source)
    except OSError as error:
        raise Malformed(f"cannot read {file}: {reason_of(error)}") from None
    show(output, reported, [row(reported)])


@runs.command("remove")
def remove_runs(
    context: typer.Context,
    numbers: Annotated[list[int], typer.Argument(metavar="RUN...", min=1, help="Numbers of past runs.")],
    output: Output = Format.TABLE,
    port: Port = None,
    yes: Yes = False,
) -> None:
    """Remove past runs with all that is kept of them, imported ones too: all of them, or none if one cannot be removed."""
    known = {run["run"]: run for run in ask(context, port, "GET", PATH)}
    wanted = dict.fromkeys(numbers)
    for number in wanted:
        if number not in known:
            raise NotThere(f"there is no run {number}: runs list has them")
        if known[number]["live"]:
            raise Impossible(
                f"run {number} is going on: it can be removed when the cluster has begun another"
            )
    named = ", ".join(f"run {number}" for number in wanted)
    if not yes and not agreed(f"Remove {named} for good?"):
        raise Impossible("nothing was removed: answer y, or pass --yes")
    reported = [ask(context, port, "DELETE", f"{PATH}/{number}") for number in wanted]
    show(output, reported, [row(each) for each in reported])
