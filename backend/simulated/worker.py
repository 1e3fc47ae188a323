"""A process that carries simulated clusters: it advances each as the wall clock asks, and reports in batches.

It ends with its socket, so that none outlives the control plane.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys
import time

import msgspec

from backend.errors import LabError
from backend.simulated.messages import (
    FRAME_BYTES,
    LENGTH,
    ApplyInput,
    ClusterEnded,
    CreateCluster,
    DropCluster,
    Observe,
    Report,
    Request,
    RequestFailed,
)
from backend.simulated.runner import ClusterRunner

NICE = 5
"""The control plane, which people wait for, goes first."""
READ_BYTES = 1 << 16
ROUND_NS = 60_000_000
"""Wall time of a turn of all clusters when none keeps up; a request waits as long."""
SHARE_LEAST_NS = 1_000_000
"""Wall time that each cluster gets in any case."""


class SimulationWorker:
    """`run` returns when the control plane closes the socket."""

    def __init__(self, connection: socket.socket):
        self._socket = connection
        self._buffer = bytearray()
        self._decode = msgspec.msgpack.Decoder(Request).decode
        self._encode = msgspec.msgpack.Encoder().encode
        self.runners: dict[str, ClusterRunner] = {}

    def run(self) -> None:
        with contextlib.suppress(ConnectionError):
            while self._receive(self._wait_s()):
                self.advance()

    def _wait_s(self) -> float | None:
        """How long to wait for a request; None for ever, when nothing moves."""
        waits = [runner.wait_s for runner in self.runners.values()]
        return min((wait for wait in waits if wait is not None), default=None)

    def advance(self) -> None:
        """Advances every cluster to the instant that is due, or as far as its share of the time takes it."""
        share_ns = max(SHARE_LEAST_NS, ROUND_NS // max(1, len(self.runners)))
        for name, runner in list(self.runners.items()):
            try:
                runner.advance(time.monotonic_ns(), share_ns)
            except Exception as error:
                self._end(name, error)

    def _end(self, name: str, error: Exception) -> None:
        """A simulator that met an error of its code is not advanced any more; the others go on."""
        runner = self.runners.pop(name)
        with contextlib.suppress(Exception):
            runner.report()
        runner.close()
        self.send(ClusterEnded(name, f"{type(error).__name__}: {error}"))

    # --- requests ---------------------------------------------------------------------------------

    def _receive(self, wait_s: float | None) -> bool:
        """Handles the requests that have arrived; False at the end of the connection."""
        while select.select([self._socket], [], [], wait_s)[0]:
            data = self._socket.recv(READ_BYTES)
            if not data:
                return False
            self._buffer += data
            while (frame := self._frame()) is not None:
                self._on_request(self._decode(frame))
            wait_s = 0
        return True

    def _frame(self) -> bytes | None:
        if len(self._buffer) < LENGTH.size:
            return None
        length = LENGTH.unpack_from(self._buffer)[0]
        end = LENGTH.size + length
        if length > FRAME_BYTES:
            raise ConnectionError(f"a frame of {length} bytes")
        if len(self._buffer) < end:
            return None
        frame = bytes(self._buffer[LENGTH.size : end])
        del self._buffer[:end]
        return frame

    def _on_request(self, request: Request) -> None:
        try:
            self._handle(request)
        except LabError as error:
            if isinstance(request, CreateCluster | DropCluster):
                self.send(ClusterEnded(request.cluster, error.message))
            else:
                self.send(RequestFailed(request.cluster, request.id, type(error).__name__, error.message))
        except Exception as error:
            if isinstance(request, Observe):
                line = f"{type(error).__name__}: {error}"
                self.send(RequestFailed(request.cluster, request.id, "Unavailable", line))
            else:
                self._end(request.cluster, error)

    def _handle(self, request: Request) -> None:
        if isinstance(request, CreateCluster):
            self.runners[request.cluster] = ClusterRunner(request, self.send, time.monotonic_ns())
            return
        runner = self.runners.get(request.cluster)
        if runner is None:
            return
        if isinstance(request, DropCluster):
            runner.close()
            del self.runners[request.cluster]
        elif isinstance(request, ApplyInput):
            runner.apply(request)
        elif isinstance(request, Observe):
            runner.observe(request)
        else:
            runner.change_clock(request, time.monotonic_ns())

    def send(self, report: Report) -> None:
        """Waits while the control plane does not read, so that nothing piles up here."""
        data = self._encode(report)
        self._socket.sendall(LENGTH.pack(len(data)) + data)


def main(descriptor: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.nice(NICE)
    gc.freeze()
    with socket.socket(fileno=descriptor) as connection:
        connection.setblocking(True)
        SimulationWorker(connection).run()


if __name__ == "__main__":
    main(int(sys.argv[1]))
