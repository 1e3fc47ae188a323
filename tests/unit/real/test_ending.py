"""A process that is told to stop while its peers go on."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import msgspec

from nodes.real.process import Process, ProcessFile, RealWorld
from nodes.wire.messages import Message


class Slow:
    """A coordination service that takes leave slowly: a message comes meanwhile."""

    def __init__(self, world: RealWorld):
        self._world = world

    def start(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    async def close(self) -> None:
        self._world.network._step("mds2", Message())


def test_what_comes_after_its_roles_have_ended_is_not_heard(tmp_path: Path) -> None:
    async def live() -> int:
        (tmp_path / "token").write_bytes(b"x")
        file = ProcessFile(
            "server",
            msgspec.Raw(b"{}"),
            str(tmp_path / "data"),
            "",
            "",
            {},
            str(tmp_path / "token"),
            str(tmp_path / "s"),
        )
        process = Process(file, "mds1", "clover")

        async def work() -> None:
            """Nothing."""

        def start(world: RealWorld) -> None:
            role = world.scope.child("role")
            world.network.receive(lambda peer, message: role.spawn(work(), "work") and None)
            world.coordination = Slow(world)

        return await process.run(start, 0)

    assert asyncio.run(live()) == 0
