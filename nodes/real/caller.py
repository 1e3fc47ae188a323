"""The process of a client that carries out a script of calls, for a trial on real processes."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import msgspec

from nodes.client.files import FileClient
from nodes.client.smart_client import SmartClient
from nodes.config import ClusterConfig
from nodes.explore.calls import Caller
from nodes.explore.content import ContentRecord
from nodes.explore.script import Script
from nodes.real.process import Process, ProcessFile, RealWorld

PROGRESS = "progress"
"""Name of the progress file in the client's directory, which survives a kill."""


class CallerConfig(msgspec.Struct):
    """The configuration of a client with a script."""

    name: str
    cluster: ClusterConfig
    caller: Caller


class CallProgress(msgspec.Struct):
    begun: int = 0
    answered: int = 0
    done: bool = False
    acknowledged: dict[str, ContentRecord] = {}
    """Acknowledged records of content by their tag."""
    under_way: dict[int, str] = {}
    """As text, the calls that had begun and not returned."""


def read_progress(directory: Path) -> CallProgress:
    """A client's recorded progress; empty when it has not begun."""
    try:
        return msgspec.json.decode((directory / PROGRESS).read_bytes(), type=CallProgress)
    except FileNotFoundError:
        return CallProgress()


async def run_caller(file: ProcessFile) -> int:
    """Runs the client. Its calls begin on request, because a process takes a second to start. Raises CannotStart, msgspec.ValidationError."""
    config = msgspec.json.decode(file.config, type=CallerConfig)
    process = Process(file, config.name, config.cluster.cluster)

    def start(world: RealWorld) -> None:
        client = SmartClient(world, config.cluster, f"{config.name}.1", reports_calls=True)
        files = FileClient(world, config.cluster, client)
        keep = partial(record, directory=Path(file.data))
        script = Script(config.caller, client, files, world.clock, keep)
        spawn = partial(world.scope.spawn, name="calls")
        world.answer("begin", lambda question: script.begin(spawn))

    return await process.run(start, config.cluster.timing.session_timeout_ms)


def record(script: Script, directory: Path) -> None:
    """Writes the progress file atomically."""
    open_calls = {number: str(call) for number, call in script.under_way.items()}
    progress = CallProgress(script.begun, script.answered, script.done, script.acknowledged, open_calls)
    new = directory / f".{PROGRESS}.new"
    new.write_bytes(msgspec.json.encode(progress))
    os.replace(new, directory / PROGRESS)
