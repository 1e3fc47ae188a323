"""`./cloverlab up`: the control plane and its cluster from start to Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import logging
import os
import signal
import socket
from pathlib import Path

import uvicorn
import uvloop
from rich.console import Console

from backend.app import create_app
from backend.classes.service import Classes
from backend.clusters.service import cluster
from backend.errors import ClusterCannotStart, LabError, reason_of
from backend.fabrics.watched_cluster import wait_until
from backend.fleet.fleet import Fleet
from backend.holders import holder_of
from backend.key import key_in, link
from backend.lab import Lab
from backend.metrics import serve_metrics
from backend.names import CONTROL
from backend.reach import EVERY_ADDRESS, LOOPBACK, NETWORK_WARNING
from backend.registry import ControlPlane, registered
from backend.service_manager import READY, STOPPING, notify
from backend.settings import Settings
from backend.simulated.workers import Workers
from backend.status import table
from backend.unfinished_responses import Unfinished
from backend.web_server import WebServer
from nodes.log_lines import FORMAT, LogLines, log

GREEN_TIMEOUT_S = 60.0
BEAT_S = 1.0
BACKLOG = 128
CONNECTIONS_MAX = 256
"""More get 503 at once; in a network there may be twice as many."""
GC_THRESHOLDS = (200_000, 50, 1000)
"""The checks keep many small objects without cycles, which the default thresholds would traverse again and again."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
console = Console(stderr=True, highlight=False)


def run_up(settings: Settings) -> int:
    """Returns the exit code: 0 after Ctrl-C, another with one line when it cannot start."""
    os.umask(0o077)
    logging.basicConfig(handlers=[LogLines(CONTROL)], level=logging.WARNING)
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    try:
        return uvloop.run(up(settings))
    except LabError as error:
        refuse(error.message)
        return error.exit_code


async def up(settings: Settings) -> int:
    if settings.reach.network:
        say(NETWORK_WARNING)
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(bind(host, settings.port)) for host in hosts_of(settings.listen)]
        workers = Workers()
        lab = await Lab.open(settings, say, workers)
        ending = asyncio.Event()
        for number in ending_signals():
            asyncio.get_running_loop().add_signal_handler(number, ending.set)
        exposition = await serve_metrics(lab) if settings.metrics_port else None
        fleet = Fleet(lab, say)
        classes = Classes(fleet)
        web = WebServer(web_config(fleet, classes))
        plane = ControlPlane.here(settings.port, settings.data, lab.home.file.cluster.protocol)
        with registered(plane):
            for listener in listeners:
                listen(listener)
            serving = asyncio.create_task(web.serve(sockets=listeners))
            try:
                classes.begin_sweeping()
                return await live(fleet, settings, ending)
            finally:
                web.should_exit = True
                await classes.stop()
                if exposition is not None:
                    exposition.close()
                await fleet.stop()
                await lab.stop()
                await workers.stop()
                await asyncio.wait_for(asyncio.gather(serving, return_exceptions=True), 5)


def hosts_of(address: str) -> list[str]:
    """The addresses to bind: this machine's own programs always reach the port at the loopback interface."""
    return [address] if address in (LOOPBACK, EVERY_ADDRESS) else [address, LOOPBACK]


def ending_signals() -> list[signal.Signals]:
    """Without those that `nohup` ignores. A script's background job ignores Ctrl-C, but is ended by it all the same."""
    return [
        number
        for number in SIGNALS
        if number is signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN
    ]


async def live(fleet: Fleet, settings: Settings, ending: asyncio.Event) -> int:
    """Runs the clusters until a person ends them."""
    lab = fleet.main
    reported = asyncio.create_task(ending.wait())
    beating = asyncio.create_task(beat(lab, settings.health)) if settings.health else None
    starting = asyncio.create_task(start(fleet, settings))
    await asyncio.wait((reported, starting), return_when=asyncio.FIRST_COMPLETED)
    if starting.done():
        await starting
    else:
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
    await reported
    if beating is not None:
        beating.cancel()
    notify(STOPPING)
    say("Stopping …")
    return 0


async def beat(lab: Lab, health: Path) -> None:
    """Touches the health file once a second, from the first moment at which the cluster is settled."""
    while True:
        if lab.start_s is not None:
            health.touch()
        await asyncio.sleep(BEAT_S)


async def start(fleet: Fleet, settings: Settings) -> None:
    lab = fleet.main
    with console.status(f"Starting {lab.home.name} in {lab.home.path} …"):
        await lab.start()
        if lab.fabric.notice:
            say(lab.fabric.notice)
        await fleet.start()
        green = await wait_until(lab.fabric.settled, GREEN_TIMEOUT_S)
    if not green:
        lab.trouble = f"not every server has its place after {GREEN_TIMEOUT_S:.0f} s"
        say(f"{lab.trouble}; see ./cloverlab status and {lab.home.path / 'logs'}")
    notify(READY, f"STATUS={lab.trouble or 'every server has its place'}")
    print(link(settings.published_port or settings.port, key_in(lab.home.path)), flush=True)
    print(table(cluster(lab)), flush=True)
    if lab.start_s is not None:
        say(f"Ready after {lab.start_s:.1f} s: open the link in a browser. Ctrl-C stops all of it.")


def refuse(line: str) -> None:
    """An error of the command line, unless a form of logs is chosen."""
    if FORMAT in os.environ:
        log("error", CONTROL, line)
    else:
        console.print(f"cloverlab up: {line}", markup=False, soft_wrap=True)


def say(line: str) -> None:
    """To a person at a terminal, else to the log."""
    if console.is_terminal and FORMAT not in os.environ:
        console.print(line, markup=False, soft_wrap=True)
    else:
        log("info", CONTROL, line)


def bind(host: str, port: int) -> socket.socket:
    """Binds the one fixed port, on the loopback interface unless `host` says otherwise; it listens once its key can be found.

    Raises ClusterCannotStart."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            holder = holder_of(port)
            raise ClusterCannotStart(
                f"port {port} is taken{f' by {holder}' if holder else ''}; give another with --port"
            ) from None
        raise ClusterCannotStart(f"cannot listen on port {port}: {reason_of(error)}") from None
    return listener


def listen(listener: socket.socket) -> None:
    """Raises ClusterCannotStart when another `up` was faster."""
    try:
        listener.listen(BACKLOG)
    except OSError as error:
        raise ClusterCannotStart(
            f"cannot listen on port {listener.getsockname()[1]}: {reason_of(error)}"
        ) from None


def web_config(fleet: Fleet, classes: Classes) -> uvicorn.Config:
    """Which of the headers of a proxy count is decided in backend/reach.py alone."""
    reach = fleet.main.settings.reach
    return uvicorn.Config(
        Unfinished(create_app(fleet, classes)),
        proxy_headers=False,
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        ws="websockets-sansio",
        ws_max_size=64 * 1024,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=64 * 1024,
        server_header=False,
        limit_concurrency=CONNECTIONS_MAX * (2 if reach.network or reach.public is not None else 1),
    )
