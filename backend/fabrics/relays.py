"""`python -m backend.fabrics.relays`: one process with a relay per server in front of coordination.

A process of its own, so that servers keep their sessions when the control plane is busy, or killed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import msgspec
import uvloop

from nodes.real.relay import Relay


class Relays:
    """Answers the lines of its control socket: status, add, rules."""

    def __init__(self) -> None:
        self._relays: dict[str, list[Relay]] = {}

    async def add(self, name: str, ports: list[int], targets: list[str]) -> None:
        """One relay for each host of the ensemble."""
        if name not in self._relays:
            relays = [Relay(port, target) for port, target in zip(ports, targets, strict=True)]
            for relay in relays:
                await relay.start()
            self._relays[name] = relays

    async def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        if question["do"] == "add":
            await self.add(question["name"], question["ports"], question["targets"])
        elif question["do"] == "rules":
            for relay in self._relays.get(question["name"], []):
                relay.rules(**question["rules"])
        elif question["do"] != "status":
            return {"ok": False, "error": f"a relay cannot {question['do']!r}"}
        return {"ok": True, "relays": sorted(self._relays)}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                try:
                    answer = await self.answer(msgspec.json.decode(line, type=dict[str, Any]))
                except (OSError, KeyError, TypeError, ValueError) as error:
                    answer = {"ok": False, "error": str(error)}
                writer.write(msgspec.json.encode(answer) + b"\n")
        finally:
            writer.close()


async def main(control: Path) -> None:
    ending = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ending.set)
    relays = Relays()
    control.unlink(missing_ok=True)
    await asyncio.start_unix_server(relays.serve, str(control))
    print(json.dumps({"ready": True, "pid": os.getpid()}), flush=True)
    await ending.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--control", type=Path, required=True)
    uvloop.run(main(parser.parse_args().control))
