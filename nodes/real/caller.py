"""The process of a client that carries out a script of calls, as a trial on real processes has them."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import msgspec

from nodes.client.files import FileClient
from nodes.client.smart_client import SmartClient
from nodes.config import ClusterConfig
from nodes.explore.calls import Caller
from nodes.explore.script import Script
from nodes.real.process import Process, ProcessFile, RealWorld

PROGRESS = "progress"
"""The file in its directory that says how far it is: it outlives a kill."""


class CallerConfig(msgspec.Struct):
    """What a client with a script is started with."""

    name: str
    cluster: ClusterConfig
    caller: Caller


class Progress(msgspec.Struct):
    """How far a client has come."""

    begun: int = 0
    answered: int = 0
    done: bool = False
    acknowledged: dict[str, int] = {}
    """Records of content that were acknowledged: tag to the inode of the file."""
    under_way: dict[int, str] = {}
    """In words, the calls that had not returned when another one did."""


def read_progress(directory: Path) -> Progress:
    """What a client has recorded; nothing when it has not begun."""
    try:
        return msgspec.json.decode((directory / PROGRESS).read_bytes(), type=Progress)
    except FileNotFoundError:
        return Progress()


async def run_caller(file: ProcessFile) -> int:
    """Its calls begin when it is asked to: a process takes a second to start. Raises CannotStart, msgspec.ValidationError."""
    config = msgspec.json.decode(file.config, type=CallerConfig)
    process = Process(file, config.name, config.cluster.cluster)

    def start(world: RealWorld) -> None:
        client = SmartClient(world, config.cluster, f"{config.name}.1", reports_calls=True)
        script = Script(config.caller, client, FileClient(world, config.cluster, client), world.clock)
        script.on_progress = lambda: record(script, Path(file.data))
        spawn = partial(world.scope.spawn, name="calls")
        world.answer("begin", lambda question: script.begin(spawn))

    return await process.run(start, config.cluster.timing.session_timeout_ms)


def record(script: Script, directory: Path) -> None:
    """The file is whole at every moment."""
    open_calls = {number: str(call) for number, call in script.under_way.items()}
    progress = Progress(script.begun, script.answered, script.done, script.acknowledged, open_calls)
    new = directory / f".{PROGRESS}.new"
    new.write_bytes(msgspec.json.encode(progress))
    os.replace(new, directory / PROGRESS)
