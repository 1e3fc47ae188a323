"""`./cloverlab ps`, `down` and `logs`: the control planes that run on this machine."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from backend import registry
from backend.commands.completion import names
from backend.commands.options import Port, port_of
from backend.commands.output import Format, Output, show
from backend.errors import Malformed, NotThere, Unavailable
from backend.registry import ControlPlane
from backend.suggestion import nearest

app = typer.Typer()
ENDS_S = 60.0
POLL_S = 0.1


@app.command()
def ps(output: Output = Format.TABLE) -> None:
    """List the clusters of this machine that run."""
    rows = [
        {
            "port": plane.port,
            "state": "running" if plane.runs else "without control plane",
            "pid": plane.pid,
            "protocol": plane.protocol,
            "data": plane.data,
        }
        for plane in registry.listed()
    ]
    show(output, rows)


@app.command()
def down(
    context: typer.Context,
    delete: Annotated[
        bool, typer.Option("--delete", help="Then delete its data: journals, images, blocks, events.")
    ] = False,
    port: Port = None,
) -> None:
    """Stop the cluster at a port; its data stay. It also stops servers of a control plane that was killed."""
    plane = plane_at(port_of(context, port))
    if plane.runs:
        os.kill(plane.pid, signal.SIGTERM)
        deadline = time.monotonic() + ENDS_S
        while plane.runs:
            if time.monotonic() > deadline:
                raise Unavailable(f"the control plane (pid {plane.pid}) did not end within {ENDS_S:.0f} s")
            time.sleep(POLL_S)
    asyncio.run(stop_leftovers(plane))
    registry.forget(plane)
    if delete:
        from backend.fabrics.home import clear

        clear(Path(plane.data))
    where = f"its data in {plane.data} are deleted" if delete else f"its data are in {plane.data}"
    print(f"stopped the cluster at port {plane.port}; {where}", file=sys.stderr)


async def stop_leftovers(plane: ControlPlane) -> None:
    await asyncio.gather(*(child.stop() for child in plane.leftovers()))


@app.command()
def logs(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A process of the cluster: mds1; control after up --detach.",
            autocompletion=names,
        ),
    ],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on, until Ctrl-C.")] = False,
    port: Port = None,
) -> None:
    """Print what a process of the cluster wrote to its log."""
    plane = plane_at(port_of(context, port))
    known = plane.logs()
    if name not in known:
        raise Malformed(
            f"no log of {name[:40]!r}{nearest(name, known)}; there are {', '.join(known) or 'none'}"
        )
    print_log(plane.log(name), follow)


def print_log(log: Path, follow: bool) -> None:
    with log.open("rb") as file:
        while True:
            while part := file.read(1 << 16):
                sys.stdout.buffer.write(part)
            sys.stdout.buffer.flush()
            if not follow:
                return
            time.sleep(POLL_S)


def plane_at(port: int) -> ControlPlane:
    """Raises NotThere."""
    planes = registry.listed()
    found = next((plane for plane in planes if plane.port == port), None)
    if found is None:
        there = ", ".join(str(plane.port) for plane in planes) or "none"
        raise NotThere(
            f"no ./cloverlab up of this machine has port {port}; running ones have {there}. Containers: docker compose logs, down"
        )
    return found
