"""`python -m backend.fabrics.relays`: one process with a relay per server in front of coordination.

The relays have their own process, so that servers keep their sessions while the control plane is busy or killed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import uvloop

from nodes.real.control import Control
from nodes.real.relay import Relay


class Relays:
    """The relays and the requests of their control socket: status, add, rules."""

    def __init__(self) -> None:
        self._relays: dict[str, list[Relay]] = {}

    def status(self, question: dict[str, Any]) -> dict[str, Any]:
        return {"relays": sorted(self._relays)}

    async def add(self, question: dict[str, Any]) -> None:
        """Adds a relay for each host of the ensemble; an existing name stays as it is."""
        name = question["name"]
        if name not in self._relays:
            pairs = zip(question["ports"], question["targets"], strict=True)
            relays = [Relay(port, target) for port, target in pairs]
            for relay in relays:
                await relay.start()
            self._relays[name] = relays

    def rules(self, question: dict[str, Any]) -> None:
        for relay in self._relays.get(question["name"], []):
            relay.rules(**question["rules"])


async def main(path: Path) -> None:
    ending = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ending.set)
    relays, control = Relays(), Control()
    control.answer("status", relays.status)
    control.answer("add", relays.add)
    control.answer("rules", relays.rules)
    await control.listen(path)
    print(json.dumps({"ready": True, "pid": os.getpid()}), flush=True)
    await ending.wait()
    control.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--control", type=Path, required=True)
    uvloop.run(main(parser.parse_args().control))
