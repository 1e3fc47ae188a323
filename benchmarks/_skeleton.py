"""The bare skeleton of a group, beside which `metadata` is measured: a client, an active and three standbys as processes on loopback.

It has what no cluster of this shape can save: uvloop, msgspec, a frame for each turn and peer, a file and fdatasync at each server, one group in
flight while the next fills, answers once the active and a majority have the group. It has no namespace, sessions, epochs, traces, authentication
or failures.

`python -m benchmarks._skeleton ROLE DIRECTORY` runs one process, whose standard input ends it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import psutil
import uvloop

STANDBYS = 3
QUORUM = (1 + STANDBYS) // 2 + 1
"""Servers that have a group when it is answered; the active is one of them, as in `Ssp.safe`."""
DIRECTORIES = 64
START_S = 20.0


class BareCall(msgspec.Struct, array_like=True, tag=True, gc=False):
    number: int
    write: bool
    path: str


class BareAnswer(msgspec.Struct, array_like=True, tag=True, gc=False):
    number: int
    sn: int
    place: int


class BareGroup(msgspec.Struct, array_like=True, tag=True, gc=False):
    sn: int
    data: bytes
    """The encoded calls of the group."""


class BareAck(msgspec.Struct, array_like=True, tag=True, gc=False):
    sn: int


encode = msgspec.msgpack.Encoder().encode
decode: Callable[[bytes], list[Any]] = msgspec.msgpack.Decoder(
    list[BareCall | BareAnswer | BareGroup | BareAck]
).decode


class BareWindow(msgspec.Struct):
    """One window of the skeleton."""

    per_s: float
    latency_ms: float
    """Median of its calls."""
    cpu_us: float = 0.0
    """Processor time of active and standbys for each call."""


class BareFrames:
    """Splits a stream into the payloads of frames: a length of four bytes, then so many bytes."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        data, at = self._rest + data, 0
        while len(data) - at >= 4:
            end = at + 4 + int.from_bytes(data[at : at + 4], "little")
            if end > len(data):
                break
            yield data[at + 4 : end]
            at = end
        self._rest = data[at:]


class BareLink(asyncio.Protocol):
    """One connection. The messages of a turn leave in one frame."""

    def __init__(self, on_message: Callable[[BareLink, Any], None]):
        self._on_message = on_message
        self._frames = BareFrames()
        self._waiting: list[Any] = []
        self._transport: asyncio.WriteTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        for payload in self._frames.feed(data):
            for message in decode(payload):
                self._on_message(self, message)

    def send(self, message: Any) -> None:
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._flush)
        self._waiting.append(message)

    def _flush(self) -> None:
        payload, self._waiting = encode(self._waiting), []
        self._transport.write(len(payload).to_bytes(4, "little") + payload)


class BareLog:
    def __init__(self, path: Path):
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def append(self, data: bytes) -> None:
        os.write(self._fd, data)

    def sync(self) -> None:
        os.fdatasync(self._fd)


class BareStandby:
    """Groups that arrive in one turn share a sync."""

    def __init__(self, log: BareLog):
        self._log = log
        self._taken: list[tuple[BareLink, int]] = []

    def on_message(self, link: BareLink, message: BareGroup) -> None:
        self._log.append(message.data)
        if not self._taken:
            asyncio.get_running_loop().call_soon(self._sync)
        self._taken.append((link, message.sn))

    def _sync(self) -> None:
        self._log.sync()
        taken, self._taken = self._taken, []
        for link, sn in taken:
            link.send(BareAck(sn))


class BareActive:
    def __init__(self, log: BareLog):
        self._log = log
        self.standbys: list[BareLink] = []
        self._open: list[BareCall] = []
        self._answers: list[BareLink] = []
        self._in_flight: list[BareCall] = []
        self._waiting: list[BareLink] = []
        self._sn = 0
        self._holders = 0
        self._own = False
        self._close_wanted = False

    def on_message(self, link: BareLink, message: Any) -> None:
        if type(message) is BareAck:
            if message.sn == self._sn:
                self._holders += 1
                self._count()
        elif not message.write:
            link.send(BareAnswer(message.number, self._sn, 0))
        else:
            self._open.append(message)
            self._answers.append(link)
            self._close_when_idle()

    def _close_when_idle(self) -> None:
        if not self._in_flight and not self._close_wanted:
            self._close_wanted = True
            asyncio.get_running_loop().call_soon(self._close)

    def _close(self) -> None:
        self._close_wanted = False
        self._in_flight, self._open = self._open, []
        self._waiting, self._answers = self._answers, []
        self._sn += 1
        self._holders, self._own = 1, False
        group = BareGroup(self._sn, encode(self._in_flight))
        for standby in self.standbys:
            standby.send(group)
        self._log.append(group.data)
        # Two turns later: the standbys' disks work in parallel to this one.
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.call_soon, self._sync)

    def _sync(self) -> None:
        self._log.sync()
        self._own = True
        self._count()

    def _count(self) -> None:
        if not self._in_flight or not self._own or self._holders < QUORUM:
            return
        for place, (ask, link) in enumerate(zip(self._in_flight, self._waiting, strict=True), 1):
            link.send(BareAnswer(ask.number, self._sn, place))
        self._in_flight = []
        if self._open:
            self._close_when_idle()


class BareClient:
    """So many callers, each with one call at a time."""

    active: BareLink

    def __init__(self) -> None:
        self._number = 0
        self._asked: dict[int, asyncio.Future[BareAnswer]] = {}
        self._ends = 0.0

    def on_message(self, link: BareLink, message: BareAnswer) -> None:
        self._asked.pop(message.number).set_result(message)

    async def run(self, write: bool, callers: int, seconds: float) -> BareWindow:
        began = time.perf_counter()
        self._ends = began + seconds
        took: list[float] = []
        await asyncio.gather(*(self._caller(write, took) for _ in range(callers)))
        passed = time.perf_counter() - began
        return BareWindow(len(took) / passed, sorted(took)[len(took) // 2] * 1e3)

    async def _caller(self, write: bool, took: list[float]) -> None:
        loop = asyncio.get_running_loop()
        while (began := time.perf_counter()) < self._ends:
            self._number += 1
            number = self._number
            answered: asyncio.Future[BareAnswer] = loop.create_future()
            self._asked[number] = answered
            path = f"/load/d{random.randrange(DIRECTORIES)}/client.0123456789-{number}"
            self.active.send(BareCall(number, write, path))
            await answered
            took.append(time.perf_counter() - began)


# --- processes ---------------------------------------------------------------------------------------------------------


async def dial(path: Path, on_message: Callable[[BareLink, Any], None]) -> BareLink:
    """A connection to the process that has written its port there."""
    _, link = await asyncio.get_running_loop().create_connection(
        lambda: BareLink(on_message), "127.0.0.1", int(path.read_text())
    )
    return link


async def listen(path: Path, on_message: Callable[[BareLink, Any], None]) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: BareLink(on_message), "127.0.0.1", 0)
    path.write_text(str(server.sockets[0].getsockname()[1]))


async def lines() -> AsyncIterator[bytes]:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    while line := await reader.readline():
        yield line


async def serve(role: str, directory: Path) -> None:
    """Prints a line once the process is ready. The client runs what each line of its input names, and prints the outcome."""
    port, client = directory / f"{role}.port", BareClient()
    if role == "client":
        client.active = await dial(directory / "active.port", client.on_message)
    elif role == "active":
        active = BareActive(BareLog(directory / f"{role}.log"))
        for number in range(STANDBYS):
            active.standbys.append(await dial(directory / f"standby{number}.port", active.on_message))
        await listen(port, active.on_message)
    else:
        await listen(port, BareStandby(BareLog(directory / f"{role}.log")).on_message)
    print("ready", flush=True)
    async for line in lines():
        write, callers, seconds = json.loads(line)
        print(msgspec.json.encode(await client.run(write, callers, seconds)).decode(), flush=True)


class Skeleton:
    """The running processes, the client last."""

    def __init__(self, started: list[asyncio.subprocess.Process]):
        self._servers = [process.pid for process in started[:-1]]
        self._client = started[-1]

    async def measure(self, write: bool, callers: int, seconds: float) -> BareWindow:
        assert self._client.stdin is not None and self._client.stdout is not None
        before_s = sum(map(cpu_s, self._servers))
        self._client.stdin.write(json.dumps([write, callers, seconds]).encode() + b"\n")
        line = await asyncio.wait_for(self._client.stdout.readline(), seconds + START_S)
        measured = msgspec.json.decode(line, type=BareWindow)
        used_s = sum(map(cpu_s, self._servers)) - before_s
        measured.cpu_us = used_s / (measured.per_s * seconds) * 1e6
        return measured


def cpu_s(pid: int) -> float:
    """Processor time of a process, in seconds."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


@contextlib.asynccontextmanager
async def skeleton(directory: Path) -> AsyncIterator[Skeleton]:
    """Five processes with their logs in this directory; ended with the context."""
    started: list[asyncio.subprocess.Process] = []
    try:
        for role in (*(f"standby{number}" for number in range(STANDBYS)), "active", "client"):
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "benchmarks._skeleton", role, str(directory),
                cwd=Path(__file__).resolve().parent.parent,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            )  # fmt: skip
            started.append(process)
            assert process.stdout is not None
            await asyncio.wait_for(process.stdout.readline(), START_S)
        yield Skeleton(started)
    finally:
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1], Path(sys.argv[2])))
