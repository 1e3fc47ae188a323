"""The command line. A module of `backend.commands` has the commands of one subject, and is imported when one of them is called."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from backend.commands.completion import VARIABLE
from backend.commands.options import inherit_port
from backend.errors import Exit, LabError, Malformed
from backend.names import DEFAULT_PORT
from backend.version import version

MODULES = {
    "up": "up",
    "down": "lifecycle",
    "ps": "lifecycle",
    "status": "cluster",
    "clock": "clock",
    "wait": "wait",
    "logs": "lifecycle",
    "bundle": "bundle",
    "runs": "runs",
    "fault": "faults",
    "force": "faults",
    "handover": "handover",
    "remove": "removal",
    "fs": "files",
    "checkpoint": "checkpoints",
    "pool": "pool",
    "tree": "tree",
    "watch": "watch",
    "journal": "dump",
    "image": "dump",
    "lab": "labs",
    "grade": "grade",
    "class": "classes",
    "run": "trials",
    "explore": "trials",
    "test": "benchmarks",
    "bench": "benchmarks",
    "reproduce": "benchmarks",
    "help": "manual",
    "man": "manual",
    "completion": "manual",
}
"""The module of each command, in the order of the help."""

ELSEWHERE = {
    "add": "fault add_server GROUP",
    "start": "up, or fault restart SERVER",
    "restart": "fault restart SERVER",
    "stop": "down, or fault crash SERVER",
    "kill": "fault crash SERVER",
    "top": "status --watch",
    "events": "watch",
}
"""Words of other tools, and what they are called here."""


class Root(TyperGroup):
    """The commands, and a line for words that other tools have."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] in ELSEWHERE:
            raise Malformed(f"there is no command {args[0]!r}: it is ./cloverlab {ELSEWHERE[args[0]]}")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=Root,
    name="cloverlab",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Run, watch and break clusters of metadata servers from a browser.",
)
UsageError: Any = typer.BadParameter.__mro__[1]


def report_version(asked: bool) -> None:
    if asked:
        print(f"cloverlab {version()}")
        raise typer.Exit


@app.callback()
def main(
    context: typer.Context,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=1,
            max=65535,
            metavar="N",
            envvar="CLOVERLAB_PORT",
            help=f"Port of the control plane ({DEFAULT_PORT}).",
        ),
    ] = None,
    show_version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=report_version, help="Show the version and exit."),
    ] = False,
) -> None:
    inherit_port(context, port)


class Commands(Mapping[str, Any]):
    """The commands by name; looking one up imports its module."""

    def __getitem__(self, name: str) -> Any:
        commands = importlib.import_module(f"backend.commands.{MODULES[name]}").app
        commands.rich_markup_mode = app.rich_markup_mode
        return get_group(commands).commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)


def root() -> Any:
    """The whole command line, as a command of commands."""
    group = get_group(app)
    group.commands = Commands()  # type: ignore[assignment]
    return group


def complain(line: str, hint: str = "") -> None:
    a_list = line.startswith("Usage:")
    print(line if a_list else f"cloverlab: {' '.join(line.split())}{hint}", file=sys.stderr)


def entry(arguments: list[str] | None = None, program: str = "./cloverlab") -> int:
    """Returns the exit code."""
    if VARIABLE in os.environ:
        importlib.import_module("typer.completion").completion_init()
    try:
        code = root().main(arguments, prog_name=program, complete_var=VARIABLE, standalone_mode=False)
        return code if isinstance(code, int) else 0
    except LabError as error:
        complain(error.message)
        return error.exit_code
    except UsageError as error:
        complain(error.format_message(), " (see --help)")
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except SystemExit:
        # Click ends so when the reader of standard output has gone, and silences the last flush.
        return 0
    return Exit.USAGE


if __name__ == "__main__":
    sys.exit(entry())
