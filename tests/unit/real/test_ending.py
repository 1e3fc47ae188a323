"""A process that is stopped while its peers continue."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import sys
from pathlib import Path

import msgspec
import pytest

from nodes.real.process import BUG_EXIT, Process, ProcessFile, RealWorld
from nodes.trace.events import Warned
from nodes.wire.keys import keys_of
from nodes.wire.messages import Message


class Slow:
    """A coordination service that closes the session slowly: a message arrives meanwhile."""

    def __init__(self, world: RealWorld):
        self._world = world

    def start(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    async def close(self) -> None:
        self._world.network._step("mds2", Message())


def made(directory: Path) -> Process:
    (directory / "keys").write_bytes(msgspec.json.encode(keys_of(b"t" * 32, serves=True)))
    keys, control = str(directory / "keys"), str(directory / "s")
    file = ProcessFile("server", msgspec.Raw(b"{}"), str(directory / "data"), "", "", {}, keys, control)
    return Process(file, "mds1", "clover")


def test_what_comes_after_its_roles_have_ended_is_not_received(tmp_path: Path) -> None:
    async def live() -> int:
        process = made(tmp_path)

        async def work() -> None:
            """Does nothing."""

        def start(world: RealWorld) -> None:
            role = world.scope.child("role")
            world.network.receive(lambda peer, message: role.spawn(work(), "work") and None)
            world.coordination = Slow(world)

        return await process.run(start, 0)

    assert asyncio.run(live()) == 0


class Full:
    """A file on a disk without room."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def flush(self) -> None:
        self.write("")


@pytest.mark.parametrize("reported", [True, False])
def test_without_room_for_its_events_it_ends_though_nobody_can_be_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], reported: bool
) -> None:
    async def live() -> int:
        process = made(tmp_path)

        def start(world: RealWorld) -> None:
            asyncio.get_running_loop().call_later(0.01, fill, process, monkeypatch)

        if not reported:
            monkeypatch.setattr(sys, "stderr", Full())
        return await asyncio.wait_for(process.run(start, 0), 10)

    assert asyncio.run(live()) == BUG_EXIT
    line = f" error mds1: no room is left in {tmp_path / 'data'}: make some and start mds1 again\n"
    assert capsys.readouterr().err.count(line) == (1 if reported else 0)


def fill(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int, data: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("nodes.trace.writer.os.write", full)
    process.trace.emit(Warned("something"))
