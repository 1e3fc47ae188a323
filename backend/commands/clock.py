"""`./cloverlab clock`: the virtual time of a simulated cluster."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from backend.commands.options import Port, ask, inherit_port
from backend.commands.output import Format, Output, show

SECOND = 1_000_000_000
app = typer.Typer()
clock = typer.Typer(
    help="Show and control the virtual time of a simulated cluster.",
    epilog="Examples: clock play --speed 10; clock play --until 60; clock play --until-event RoleChanged; clock step.",
    invoke_without_command=True,
)
app.add_typer(clock, name="clock")
Speed = Annotated[
    float | None,
    typer.Option(min=0.1, max=1000, metavar="X", help="Virtual time per wall time, from 0.1 to 1000."),
]


@clock.callback()
def now(context: typer.Context, port: Port = None, output: Output = Format.TABLE) -> None:
    """Without a command: show the clock."""
    inherit_port(context, port)
    if context.invoked_subcommand is None:
        report(output, ask(context, port, "GET", "/api/clock"))


@clock.command()
def play(
    context: typer.Context,
    speed: Speed = None,
    until: Annotated[
        float,
        typer.Option(min=0, metavar="S", help="Pause at this virtual second since the cluster began."),
    ] = 0.0,
    until_event: Annotated[
        str, typer.Option(metavar="KIND", help="Pause after the next event of this kind, as RoleChanged.")
    ] = "",
    until_condition: Annotated[
        str, typer.Option(metavar="CONDITION", help="Pause when this holds, as in wait: settled.")
    ] = "",
    port: Port = None,
    output: Output = Format.TABLE,
) -> None:
    """Let virtual time pass."""
    change = {
        "playing": True,
        "until_ns": round(until * SECOND),
        "until_event": until_event,
        "until_condition": until_condition,
    }
    send(context, port, output, change | ({} if speed is None else {"speed": speed}))


@clock.command()
def pause(context: typer.Context, port: Port = None, output: Output = Format.TABLE) -> None:
    """Stop virtual time. Faults can still be injected; calls of the file system need a clock that plays."""
    send(context, port, output, {"playing": False})


@clock.command()
def speed(
    context: typer.Context,
    speed: Annotated[float, typer.Argument(min=0.1, max=1000, metavar="X", help="From 0.1 to 1000.")],
    port: Port = None,
    output: Output = Format.TABLE,
) -> None:
    """Change the speed; a paused clock stays paused."""
    send(context, port, output, {"speed": speed})


@clock.command()
def step(
    context: typer.Context,
    to: Annotated[
        Literal["event", "message"], typer.Argument(metavar="event|message", help="What to step to.")
    ] = "event",
    port: Port = None,
    output: Output = Format.TABLE,
) -> None:
    """Pause, and advance to the next event (default) or delivered message."""
    send(context, port, output, {"step": to})


def send(context: typer.Context, port: int | None, output: Format, change: dict[str, Any]) -> None:
    report(output, ask(context, port, "POST", "/api/clock", change))


def report(output: Format, state: dict[str, Any]) -> None:
    if output is Format.JSON:
        show(output, state)
        return
    instant = f"{state['until_ns'] / SECOND:.3f} s" if state["until_ns"] else None
    until = state["until_condition"] or state["until_event"] or instant
    show(
        output,
        {
            "clock": f"{state['now_ns'] / SECOND:.6f} s",
            "state": "playing" if state["playing"] else "paused",
            "speed": f"x{state['speed']:g}",
            "reached": f"x{state['reached']:.3g}" if state["reached"] else None,
            "until": until,
            "met": state["met"] or None,
        },
    )
