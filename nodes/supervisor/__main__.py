"""`python -m nodes.supervisor --name NAME …`: the first process of a server's container."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from pathlib import Path

from nodes.log_lines import log
from nodes.supervisor.exposition import Exposition
from nodes.supervisor.messages import PORT
from nodes.supervisor.metrics import ProcessCollector
from nodes.supervisor.supervisor import Supervisor, SupervisorSettings

WRONG_INPUT_EXIT = 2


def settings() -> tuple[SupervisorSettings, int]:
    parser = argparse.ArgumentParser(
        prog="python -m nodes.supervisor", description="Keeps one server of a cluster."
    )
    parser.add_argument("--name", required=True, help="the server's name, which resolves on the data network")
    parser.add_argument("--data", type=Path, default=Path("/data"), help="its volume")
    parser.add_argument(
        "--token",
        type=Path,
        default=Path("/run/secrets/cloverlab/token"),
        help="file of the cluster's token, or of the keys of this container alone",
    )
    parser.add_argument("--port", type=int, default=PORT, help="for the control plane")
    parser.add_argument("--metrics", type=int, default=9100, help="port for Prometheus; 0 for none")
    parser.add_argument("--ensemble", default="", help="the ZooKeeper servers zk1,zk2,… of which this is one")
    parser.add_argument("--health", type=Path, default=Path("/tmp/healthy"))
    reported = parser.parse_args()
    ensemble = [name for name in reported.ensemble.split(",") if name]
    if ensemble and reported.name not in ensemble:
        parser.error(f"--name {reported.name} is not one of --ensemble {reported.ensemble}")
    return SupervisorSettings(
        reported.name, reported.data, reported.token, reported.port, ensemble, reported.health
    ), reported.metrics


async def run(reported: SupervisorSettings, metrics_port: int) -> None:
    ending = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ending.set)
    supervisor = Supervisor(reported)
    exposition = Exposition(ProcessCollector(supervisor), {"/healthz": lambda: ""})
    async with contextlib.AsyncExitStack() as stack:
        if metrics_port:
            await stack.enter_async_context(await exposition.listen(metrics_port))
        await supervisor.run(ending)


def main() -> int:
    reported, metrics_port = settings()
    try:
        asyncio.run(run(reported, metrics_port))
    except OSError as error:
        log("error", f"supervisor of {reported.name}", str(error))
        return WRONG_INPUT_EXIT
    return 0


if __name__ == "__main__":
    sys.exit(main())
