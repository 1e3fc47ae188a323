"""The worker processes of the simulated clusters, as the control plane sees them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import Callable

import msgspec

from backend.errors import ClusterCannotStart, Unavailable, reason_of
from backend.simulated.messages import FRAME_BYTES, LENGTH, ClusterEnded, Report, Request

WORKERS_MAX = 4
ENDS_S = 2.0
OnReport = Callable[[Report], None]


class WorkerLink:
    """One worker process and the socket to it."""

    def __init__(
        self, process: asyncio.subprocess.Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ):
        self._process = process
        self._reader = reader
        self._writer = writer
        self._encode = msgspec.msgpack.Encoder().encode
        self.receivers: dict[str, OnReport] = {}
        """Who receives the reports of each cluster."""
        self._reading = asyncio.create_task(self._read(), name="reports of simulated clusters")

    @classmethod
    async def start(cls) -> WorkerLink:
        """Raises ClusterCannotStart."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                process = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", "backend.simulated.worker", str(theirs.fileno()),
                    stdin=asyncio.subprocess.DEVNULL, pass_fds=(theirs.fileno(),),
                )  # fmt: skip
        except OSError as error:
            ours.close()
            raise ClusterCannotStart(
                f"no process for simulated clusters can start: {reason_of(error)}"
            ) from None
        reader, writer = await asyncio.open_connection(sock=ours)
        return cls(process, reader, writer)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return not self._reading.done()

    def send(self, request: Request) -> None:
        """Raises Unavailable."""
        data = self._encode(request)
        if len(data) > FRAME_BYTES:
            raise Unavailable(f"a request of {len(data)} bytes is too long for a simulated cluster")
        if not self.alive:
            raise Unavailable("the process of this simulated cluster has ended")
        self._writer.write(LENGTH.pack(len(data)) + data)

    async def _read(self) -> None:
        decode = msgspec.msgpack.Decoder(Report).decode
        reason = "its process has ended"
        try:
            while True:
                (length,) = LENGTH.unpack(await self._reader.readexactly(LENGTH.size))
                report: Report = decode(await self._reader.readexactly(length))
                receive = self.receivers.get(report.cluster)
                if receive is not None:
                    receive(report)
        except (asyncio.IncompleteReadError, OSError):
            pass
        except msgspec.DecodeError as error:
            reason = f"its process sent what cannot be read: {error}"
        finally:
            self._writer.close()
        for cluster, receive in list(self.receivers.items()):
            receive(ClusterEnded(cluster, reason))

    async def stop(self) -> None:
        """Closes the socket, by which the process ends; one that does not is killed."""
        self.receivers.clear()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        self._writer.close()
        try:
            await asyncio.wait_for(self._process.wait(), ENDS_S)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()


class Workers:
    """Starts a worker process when the first cluster needs it, and further ones up to a bound by the machine's cores."""

    def __init__(self, most: int = 0):
        """`most`: the bound on worker processes; 0 for one less than the cores, which leaves one to the control plane."""
        self._most = most or max(1, min(WORKERS_MAX, (os.cpu_count() or 1) - 1))
        self._links: list[WorkerLink] = []
        self._choosing = asyncio.Lock()

    async def place(self, cluster: str, receive: OnReport) -> WorkerLink:
        """The worker for a new cluster, whose reports `receive` gets: the one with the fewest. Raises ClusterCannotStart."""
        async with self._choosing:
            self._links = [link for link in self._links if link.alive]
            free = min(self._links, key=lambda link: len(link.receivers), default=None)
            if free is None or (free.receivers and len(self._links) < self._most):
                free = await WorkerLink.start()
                self._links.append(free)
            free.receivers[cluster] = receive
            return free

    async def stop(self) -> None:
        await asyncio.gather(*(link.stop() for link in self._links))
        self._links.clear()
