"""The command line. Machine-readable output goes to standard output; wrong input gets one line and exit
code 2."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import re
import sys
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

import typer

from backend.checkpoints.cli import app as checkpoint_app
from backend.errors import WRONG_INPUT_EXIT, LabError, Malformed, reason_of
from backend.interrupts import watch_signals
from backend.pool.cli import app as pool_app
from backend.settings import DEFAULT_PORT
from backend.up_command import up
from nodes.faults.table import VERBS
from nodes.faults.words import usage

app = typer.Typer(
    name="cloverlab",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Run, watch and break clusters of metadata servers from a browser.",
)
Port = Annotated[
    int | None, typer.Option("--port", min=1, max=65535, help="Port of the control plane (8080).")
]
UsageError: Any = typer.BadParameter.__mro__[1]
ANY = {"ignore_unknown_options": True, "allow_extra_args": True}
PHRASE = re.compile(r"(?:(?:a|last) )?(?:active|standbys|standby|junior|down)(?: \d+)? of \S+|\S+")


@app.callback()
def main(context: typer.Context, port: Port = None) -> None:
    context.obj = port


def port_of(context: typer.Context, port: int | None) -> int:
    return port or context.obj or DEFAULT_PORT


app.command()(up)


@app.command()
def status(
    context: typer.Context,
    port: Port = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show the servers of the running cluster."""
    from backend import remote
    from backend.status import short, table

    cluster = remote.ask(port_of(context, port), "GET", "/api/cluster")
    print(json.dumps(short(cluster), indent=1) if as_json else table(cluster))


@app.command(context_settings=ANY, epilog=f"Options and their defaults: {usage('processes')}.")
def fault(
    context: typer.Context,
    verb: Annotated[
        str,
        typer.Argument(help=", ".join(each.verb for each in VERBS if "processes" in each.fabrics) + "."),
    ],
    port: Port = None,
) -> None:
    """Inject a fault: VERB TARGET… [--option value]. Targets are names, or roles such as 'active of g1'."""
    from backend import remote

    targets, options = split_arguments(context.args)
    answer = remote.ask(
        port_of(context, port),
        "POST",
        "/api/faults",
        {"verb": verb.replace("-", "_"), "targets": targets, "options": options},
    )
    print(json.dumps({key: value for key, value in answer.items() if value is not None}))


@app.command()
def force(
    context: typer.Context,
    group: Annotated[str, typer.Argument(help="A group without service: g1.")],
    server: Annotated[str, typer.Argument(help="The server of the group that must serve.")],
    port: Port = None,
) -> None:
    """Make a server serve without its quorum; writes that only the other servers hold are lost. Refused while the group is served."""
    from backend import remote

    request = {"verb": "force", "targets": [group, server], "options": {}}
    answer = remote.ask(port_of(context, port), "POST", "/api/faults", request)
    print(json.dumps({key: value for key, value in answer.items() if value is not None}))


def split_arguments(arguments: list[str]) -> tuple[list[str], dict[str, Any]]:
    """Splits arguments into targets and options; an option is `--name value`, `--name=value`, or `--name` for true."""
    words: list[str] = []
    options: dict[str, Any] = {}
    waiting = ""
    for argument in arguments:
        if argument.startswith("--"):
            waiting, given, value = argument[2:].replace("-", "_").partition("=")
            options[waiting] = typed(value) if given else True
            waiting = "" if given else waiting
        elif waiting:
            options[waiting] = typed(argument)
            waiting = ""
        else:
            words.append(argument)
    return PHRASE.findall(" ".join(words)), options


def typed(text: str) -> Any:
    """The text as a number or truth value where it is one."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float) else text


fs_app = typer.Typer(no_args_is_help=True, help="The file system, through the smart client.")
app.add_typer(fs_app, name="fs")
app.add_typer(checkpoint_app, name="checkpoint")
app.add_typer(pool_app, name="pool")


@fs_app.callback()
def fs_main(context: typer.Context, port: Port = None) -> None:
    context.obj = port or (context.parent.obj if context.parent else None)


def call(context: typer.Context, port: int | None, do: str, path: str, **options: Any) -> Any:
    from backend import remote

    return remote.ask(port_of(context, port), "POST", "/api/fs", {"do": do, "path": path, **options})[
        "result"
    ]


@fs_app.command()
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


@fs_app.command()
def mkdir(
    context: typer.Context,
    path: str,
    parents: Annotated[bool, typer.Option("--parents", "-p")] = False,
    port: Port = None,
) -> None:
    """Create a directory."""
    call(context, port, "mkdir", path, parents=parents)


@fs_app.command()
def create(context: typer.Context, path: str, port: Port = None) -> None:
    """Create an empty file."""
    call(context, port, "create", path)


@fs_app.command()
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


@fs_app.command()
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


@fs_app.command()
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


@fs_app.command()
def mv(context: typer.Context, path: str, to: str, overwrite: bool = False, port: Port = None) -> None:
    """Rename a file or a directory."""
    call(context, port, "mv", path, to=to, overwrite=overwrite)


@fs_app.command()
def ln(context: typer.Context, path: str, to: str, port: Port = None) -> None:
    """Give a file another name, in the same or another directory."""
    call(context, port, "ln", path, to=to)


@fs_app.command()
def rm(
    context: typer.Context,
    path: str,
    recursive: Annotated[bool, typer.Option("--recursive", "-r")] = False,
    port: Port = None,
) -> None:
    """Remove a file, or a directory."""
    call(context, port, "rm", path, recursive=recursive)


@fs_app.command()
def stat(context: typer.Context, path: str, port: Port = None) -> None:
    """Show the attributes of a file or directory."""
    print(json.dumps(call(context, port, "stat", path), indent=1))


@app.command()
def test(level: Annotated[str, typer.Argument(help="quick or all")] = "all") -> None:
    """Run all checks."""
    if level not in ("quick", "all"):
        raise Malformed(f"test {level!r} is unknown; use quick or all")
    raise typer.Exit(importlib.import_module("tests.runner").main(level))


@app.command()
def run(
    file: Path,
    on: Annotated[str, typer.Option(help="simulated, processes or containers")] = "simulated",
    seed: Annotated[int | None, typer.Option(min=0, help="Seed in place of the file's own.")] = None,
    report: Annotated[Path | None, typer.Option(help="FILE.json or FILE.html")] = None,
    scale: Annotated[
        float, typer.Option(min=0.01, max=10, help="Multiplies every time of the file on real servers.")
    ] = 1.0,
    protocol: Annotated[str | None, typer.Option(help="Family in place of the file's own.")] = None,
    until: Annotated[
        float | None, typer.Option(min=0, help="Pause a trial at this second of virtual time.")
    ] = None,
    step: Annotated[
        float, typer.Option(min=0, help="Pause again after each so many seconds; 0 ends at the pause.")
    ] = 0.0,
) -> None:
    """Run a scenario."""
    if protocol is not None and on == "containers":
        raise Malformed("--protocol is for simulated and processes; PROTOCOL sets the family of containers")
    if on not in ("simulated", "processes", "containers"):
        raise Malformed(f"--on {on!r} is unknown; use simulated, processes or containers")
    commands = importlib.import_module("backend.run_command")
    watch_signals()
    if until is not None or step:
        raise typer.Exit(commands.step_command(file, on, seed, until or 0.0, step))
    raise typer.Exit(commands.run_command(file, on, seed, report, scale, protocol))


@app.command()
def explore(
    file: Annotated[Path | None, typer.Argument(help="A scenario whose neighbours are searched.")] = None,
    protocol: Annotated[str | None, typer.Option(help="Draw clusters of this family.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Draw clusters of every safe family.")] = False,
    minutes: Annotated[float | None, typer.Option(min=0.01, max=10_000, help="Length of the search.")] = None,
    seeds: Annotated[str | None, typer.Option(help="Exactly these seeds: A..B.")] = None,
    jobs: Annotated[int, typer.Option(min=0, max=256, help="Worker processes; 0 for one per processor.")] = 0,
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, instead of processes.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Directory for the files of failures.")] = Path("explored"),
    mutation: Annotated[list[str] | None, typer.Option(help="A seeded bug to switch on.")] = None,
    hole: Annotated[list[str] | None, typer.Option(help="A hole of the paper to open.")] = None,
    on: Annotated[str, typer.Option(help="simulated or processes.")] = "simulated",
    shrink: Annotated[
        bool, typer.Option("--shrink", help="Shrink the failing trial of the file, for --minutes at most.")
    ] = False,
    scale: Annotated[
        float | None, typer.Option(min=0.1, max=100, help="On processes: multiplies every time.")
    ] = None,
) -> None:
    """Search for schedules that violate an invariant: random clusters, loads and faults, with an audit."""
    commands = importlib.import_module("backend.explore.cli")
    switched = tuple(mutation or ()), tuple(hole or ())
    wish = commands.Wish(protocol, everything, minutes, seeds, jobs, dask, out, *switched, on, shrink, scale)
    raise typer.Exit(commands.explore_command(file, wish))


@app.command()
def bench(
    name: str,
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Arguments of the benchmark: a directory for ddg.")
    ] = None,
) -> None:
    """Run a benchmark; prints one JSON object."""
    known = sorted(path.stem for path in Path(__file__).parent.parent.glob("benchmarks/[a-z]*.py"))
    if name not in known:
        raise Malformed(f"bench {name[:40]!r} is unknown; there are {', '.join(known) or 'none'}")
    main = importlib.import_module(f"benchmarks.{name}").main
    try:
        inspect.signature(main).bind(*arguments or ())
    except TypeError as error:
        raise Malformed(f"bench {name}: {error}") from None
    watch_signals()
    raise typer.Exit(main(*arguments or ()) or 0)


@app.command()
def reproduce(
    name: Annotated[str, typer.Argument(help="An experiment, as docs/reproduce.md lists them.")],
    to: Annotated[
        Path, typer.Option(help="The directory that NAME.json and NAME.svg are written to.")
    ] = Path("reproduced"),
    quick: Annotated[bool, typer.Option("--quick", help="A small run: the shape in a few seconds.")] = False,
) -> None:
    """Repeat an experiment of the papers; prints one JSON object."""
    watch_signals()
    raise typer.Exit(importlib.import_module("benchmarks.experiments.command").reproduce(name, to, quick))


def complain(line: str, hint: str = "") -> None:
    a_list = line.startswith("Usage:")
    print(line if a_list else f"cloverlab: {' '.join(line.split())}{hint}", file=sys.stderr)


def entry(arguments: list[str] | None = None) -> int:
    """Returns the exit code."""
    try:
        code = app(arguments, prog_name="./cloverlab", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except LabError as error:
        complain(error.message)
    except UsageError as error:
        complain(error.format_message(), " (see --help)")
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        return 0
    return WRONG_INPUT_EXIT


if __name__ == "__main__":
    sys.exit(entry())
