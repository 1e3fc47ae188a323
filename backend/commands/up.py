"""`./cloverlab up`: the properties of a cluster as options."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from backend.commands.options import Port, port_of
from backend.errors import Malformed
from backend.places import default_data
from backend.reach import checked_listen, reach_of
from backend.settings import Settings, data_of
from backend.shape import Shape, new_config
from backend.store.retention import KEPT_S, seconds_of
from nodes import log_lines
from nodes.families import FAMILIES
from nodes.kinds import KINDS

app = typer.Typer()


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def with_nodes(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command an option for each kind of node."""
    signature = inspect.signature(command, eval_str=True)
    *fixed, _ = signature.parameters.values()
    options = [
        inspect.Parameter(
            kind.table,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[
                int | None,
                typer.Option(f"--{kind.role}s", metavar="N", min=kind.least, max=kind.most, help=kind.help),
            ],
        )
        for kind in KINDS.values()
    ]
    command.__signature__ = signature.replace(parameters=[*fixed, *options])  # type: ignore[attr-defined]
    return command


def counts(given: Mapping[str, int | None]) -> dict[str, int]:
    """The requested numbers of nodes by kind, from a table of them by the words of the kinds."""
    found = {kind.name: given.get(kind.table) for kind in KINDS.values()}
    return {name: count for name, count in found.items() if count is not None}


def age(keep: str | None) -> int:
    """Raises typer.BadParameter."""
    try:
        return KEPT_S if keep is None else seconds_of(keep)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--keep") from None


@app.command(context_settings={"auto_envvar_prefix": "CLOVERLAB_UP"})
@with_nodes
def up(
    context: typer.Context,
    port: Port = None,
    protocol: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"The family of protocols: {', '.join(FAMILIES)}.")
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option(
            metavar="safe|paper",
            help="safe (default), or paper: the protocol's literal text, with all of its holes.",
        ),
    ] = None,
    groups: Annotated[int | None, typer.Option(metavar="N", min=1, max=8, help="Replica groups (1).")] = None,
    standbys: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=9,
            help="Servers beside the active of each group (3, or as many as the family has).",
        ),
    ] = None,
    placement: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Choice of the home group of a new object: hash (default), random, subtree, ddg.",
        ),
    ] = None,
    granularity: Annotated[
        str | None,
        typer.Option(
            metavar="N-N-N",
            help="For --placement ddg: the largest unit that is kept together, as levels-directories-files (2-16-2048).",
        ),
    ] = None,
    ddg_as_printed: Annotated[
        bool | None,
        typer.Option("--ddg-as-printed", help="A directory inherits file_mds, as DCFS2 Fig. 2 has it."),
    ] = None,
    cross_group: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Commit protocol of cross-group operations: s2pc_mp (default), two_phase."
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Total order of symmetric members: fast (default), plain."),
    ] = None,
    quorums: Annotated[
        str | None,
        typer.Option(
            metavar="N-N-N", help="Ensemble, write and acknowledgement quorum E-Qw-Qa of bookkeeper (3-3-3)."
        ),
    ] = None,
    detection: Annotated[
        str | None,
        typer.Option(
            metavar="session|members",
            help="What ends a silent active's role: its coordination session, or the members, within half a second"
            " (default of groups or journals of three or more that grant leases).",
        ),
    ] = None,
    hole: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOLE",
            help="Switch on a hole, a known flaw of the published protocol, such as async_flush. Unsafe; may be repeated.",
        ),
    ] = None,
    zookeeper: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="host:port,… of a real ensemble in place of the embedded server."
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            envvar="CLOVERLAB_DATA",
            metavar="DIR",
            help="The data directory, in place of one for each name and shape.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="A cluster with a data directory of this name; by default, of its shape."
        ),
    ] = None,
    cluster: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A scenario whose part `cluster:` says every setting; other options of the shape are left out.",
        ),
    ] = None,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh", allow_from_autoenv=False, help="Delete the cluster in the data directory first."
        ),
    ] = False,
    on: Annotated[
        Literal["processes", "simulated"],
        typer.Option(
            metavar="FABRIC",
            help="processes (default), or simulated: in virtual time, which can be paused, stepped and sped up.",
        ),
    ] = "processes",
    detach: Annotated[
        bool,
        typer.Option("--detach", "-d", help="Return when the cluster is ready; ./cloverlab down stops it."),
    ] = False,
    listen: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="For a class: an address of this machine that others reach (127.0.0.1). Nothing is encrypted.",
        ),
    ] = "127.0.0.1",
    public: Annotated[
        str | None,
        typer.Option(metavar="URL", help="https://NAME that a reverse proxy on this machine gives the page."),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="AGE", help="Age up to which runs and their events are kept: 12h, 7d (default), 4w."
        ),
    ] = None,
    log_format: Annotated[
        LogFormat | None,
        typer.Option(
            envvar=log_lines.FORMAT, metavar="text|json", help="Form of the log of every process (text)."
        ),
    ] = None,
    log_level: Annotated[
        LogLevel | None,
        typer.Option(
            envvar=log_lines.LEVEL,
            metavar="LEVEL",
            help=f"Lowest level that every process logs: {', '.join(log_lines.LEVELS)} (info).",
        ),
    ] = None,
    **nodes: int | None,
) -> None:
    """Start the control plane, the page and a cluster of real processes, or a simulated one; Ctrl-C stops all of it.

    A cluster keeps its data directory: the same command starts it again with its files and history. A simulated one keeps its history, and begins
    afresh by its seed."""
    if data is not None and name is not None:
        raise Malformed("--data and --name both choose the data directory: give one of them")
    for variable, word in ((log_lines.FORMAT, log_format), (log_lines.LEVEL, log_level)):
        if word is not None:
            os.environ[variable] = word.value
    holes = tuple(sorted(set(hole))) if hole else None
    shape = Shape(
        groups, standbys, protocol, placement, granularity, cross_group, order, holes, variant=variant,
        ddg_as_printed=ddg_as_printed, quorums=quorums, detection=detection, nodes=counts(nodes),
    )  # fmt: skip
    if cluster is not None:
        if shape != Shape():
            raise Malformed("--cluster says every property of the cluster: leave the other options out")
        shape, name = shape_in(cluster), name or cluster.stem
    simulated = on == "simulated"
    if simulated and zookeeper is not None:
        raise Malformed("a simulated cluster has a simulated coordination service: leave --zookeeper out")
    where = data or directory_of(name, shape, simulated)
    if fresh:
        from backend.fabrics.home import clear

        clear(where)
    settings = Settings(
        where, port_of(context, port), shape, zookeeper, simulated, kept_s=age(keep),
        listen=checked_listen(listen), reach=reach_of(checked_listen(listen), public),
    )  # fmt: skip
    raise typer.Exit((run_detached if detach else run_up)(settings))


def shape_in(file: Path) -> Shape:
    """The cluster of a scenario file. Raises Malformed."""
    from backend.scenarios.reader import read
    from backend.scenarios.runner import cluster_config

    [scenario, *_] = read(file)
    return Shape(config=cluster_config(scenario.cluster, 1.0))


def directory_of(name: str | None, shape: Shape, simulated: bool) -> Path:
    """The data directory of a name or else of a shape, so that one shape does not refuse the next. Raises Malformed."""
    if name is not None:
        return data_of(name)
    words = (["simulated"] if simulated else []) + ([shape.slug] if shape.slug else [])
    if not words:
        return default_data()
    new_config(shape, "shape")
    return data_of("-".join(words))


def run_up(settings: Settings) -> int:
    from backend import startup

    return startup.run_up(settings)


def run_detached(settings: Settings) -> int:
    from backend import detached_start

    return detached_start.run_up(settings)
