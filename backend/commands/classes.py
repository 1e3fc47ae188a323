"""`./cloverlab class`: a class of students, each with a cluster of their own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import typer

from backend.commands.options import Port, ask, inherit_port, port_of
from backend.commands.output import Format, Output, show
from backend.errors import Malformed, NotThere

app = typer.Typer()
classroom = typer.Typer(
    no_args_is_help=True,
    help="A class: students join with a code, each with a simulated cluster of their own.",
    epilog="Examples: class start 'DS 101'; class status; class results results.csv; class end.",
)
app.add_typer(classroom, name="class")
Student = Annotated[
    str, typer.Argument(metavar="STUDENT", help="A student's name, as `class status` has it.")
]


@classroom.callback()
def inherit(context: typer.Context, port: Port = None) -> None:
    inherit_port(context, port)


@classroom.command()
def start(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="What students read.")] = "Class",
    output: Output = Format.TABLE,
    port: Port = None,
) -> None:
    """Start a class, and show its code and where students join."""
    made = ask(context, port, "POST", "/api/class", {"name": name})
    if not made["network"]:
        print(
            "cloverlab: only this machine reaches the control plane; for a network start it with up --listen ADDRESS",
            file=sys.stderr,
        )
    show(output, made, [{"code": made["code"], "join at": made["address"]}])


@classroom.command()
def status(context: typer.Context, output: Output = Format.TABLE, port: Port = None) -> None:
    """Show every student: the lab, how far, and who is stuck."""
    wall = ask(context, port, "GET", "/api/class/wall")
    if not wall["number"]:
        raise NotThere("there is no class: ./cloverlab class start")
    if output is Format.TABLE:
        state = "open" if wall["open"] else "ended"
        print(f"{wall['name']}: {state}, code {wall['code']}, {wall['address']}", file=sys.stderr)
    show(output, wall, [row(tile) for tile in wall["tiles"]])


def row(tile: dict[str, Any]) -> dict[str, Any]:
    passed = sum(step["state"] == "passed" for step in tile["steps"])
    return {
        "student": tile["name"],
        "lab": tile["lab"] or None,
        "phase": tile["phase"] or None,
        "steps": f"{passed}/{len(tile['steps'])}" if tile["steps"] else None,
        "labs passed": len(tile["passed"]),
        "seen": "now" if not tile["absent"] else f"{tile['away_s'] // 60} min ago",
        "stuck": tile["stuck"] or None,
    }


@classroom.command()
def joining(
    context: typer.Context,
    state: Annotated[
        Literal["on", "off"], typer.Argument(metavar="on|off", help="Whether the code admits students.")
    ],
    output: Output = Format.TABLE,
    port: Port = None,
) -> None:
    """Let further students in, or no more."""
    report(output, ask(context, port, "POST", "/api/class/joining", {"joining": state == "on"}))


@classroom.command()
def key(context: typer.Context, student: Student, output: Output = Format.TABLE, port: Port = None) -> None:
    """Make a new link for a student who has lost theirs; the old one ends."""
    wall = ask(context, port, "GET", "/api/class/wall")
    made = ask(context, port, "POST", f"/api/class/students/{id_of(wall, student)}/key")
    show(output, {"link": f"{place(wall['address'])}/labs?key={made['key']}"})


@classroom.command()
def remove(
    context: typer.Context, student: Student, output: Output = Format.TABLE, port: Port = None
) -> None:
    """Remove a student with all results."""
    wall = ask(context, port, "GET", "/api/class/wall")
    report(output, ask(context, port, "DELETE", f"/api/class/students/{id_of(wall, student)}"))


@classroom.command()
def results(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Where to write them; else standard output.")
    ] = None,
    port: Port = None,
) -> None:
    """Write the results of all students as CSV, also of a class that has ended."""
    from backend import remote_requests

    if file is None:
        remote_requests.receive(port_of(context, port), "/api/class/results.csv", sys.stdout.buffer)
        return
    try:
        with file.open("wb") as target:
            remote_requests.receive(port_of(context, port), "/api/class/results.csv", target)
    except OSError as error:
        raise Malformed(f"cannot write {file}: {error.strerror}") from None


@classroom.command()
def end(context: typer.Context, output: Output = Format.TABLE, port: Port = None) -> None:
    """End the class: keys and clusters of students end, results stay."""
    report(output, ask(context, port, "POST", "/api/class/end"))


def report(output: Format, made: dict[str, Any]) -> None:
    keys = ("name", "open", "joining", "students")
    show(output, made, [{name: made[name] for name in keys}])


def id_of(wall: dict[str, Any], student: str) -> str:
    """Raises NotThere."""
    found = [tile["id"] for tile in wall["tiles"] if tile["name"].casefold() == student.casefold()]
    if not found:
        raise NotThere(f"the class has no student called {student[:60]!r}")
    return str(found[0])


def place(address: str) -> str:
    """The control plane's own address in that of the entrance."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
