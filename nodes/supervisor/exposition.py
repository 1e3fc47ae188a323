"""The port for Prometheus and for probes, answered in the event loop: connections are few, short and bounded."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from http import HTTPStatus

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

CONNECTIONS_MAX = 8
"""Of more connections at once each further one is closed without an answer."""
ANSWER_S = 5.0
HEAD_BYTES = 8192
METRICS = "/metrics"
TEXT = "text/plain; charset=utf-8"

ENDS = (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError)
"""A caller that leaves, is slow or says too much, and the end of the process: streams of Python 3.11 log a traceback for a cancelled connection."""

Reason = Callable[[], str]
"""Why a probe fails, in one line; empty when it does not."""


def exposed(collector: Collector, accept: str) -> tuple[bytes, str]:
    """The metrics in the format that the caller accepts, OpenMetrics or the older text, and its content type."""
    registry = CollectorRegistry()
    registry.register(collector)
    encode, kind = choose_encoder(accept)
    return encode(registry), kind


class Exposition:
    """`/metrics`, and a path for each probe: 200 when its reason is empty, else 503 with the reason."""

    def __init__(self, collector: Collector, probes: Mapping[str, Reason]):
        self._collector = collector
        self._probes = probes
        self._open = 0

    async def listen(self, port: int, host: str = "0.0.0.0") -> asyncio.Server:
        """Raises OSError when the port is taken."""
        return await asyncio.start_server(self._accept, host, port, limit=HEAD_BYTES)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._open >= CONNECTIONS_MAX:
            writer.transport.abort()
            return
        self._open += 1
        try:
            with contextlib.suppress(*ENDS):
                async with asyncio.timeout(ANSWER_S):
                    head = await reader.readuntil(b"\r\n\r\n")
                    writer.write(self._answer(head.decode("latin-1")))
                    await writer.drain()
        finally:
            self._open -= 1
            writer.close()

    def _answer(self, head: str) -> bytes:
        first, *lines = head.split("\r\n")
        method, _, target = first.partition(" ")
        path = target.partition(" ")[0].partition("?")[0]
        if method not in ("GET", "HEAD"):
            return response(HTTPStatus.METHOD_NOT_ALLOWED, b"GET only\n")
        if path == METRICS:
            data, kind = exposed(self._collector, accepted(lines))
            return response(HTTPStatus.OK, data, kind)
        probe = self._probes.get(path)
        if probe is None:
            return response(HTTPStatus.NOT_FOUND, b"no such path\n")
        reason = probe()
        status = HTTPStatus.SERVICE_UNAVAILABLE if reason else HTTPStatus.OK
        return response(status, f"{reason or 'ok'}\n".encode())


def accepted(lines: list[str]) -> str:
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip().lower() == "accept":
            return value.strip()
    return ""


def response(status: HTTPStatus, body: bytes, kind: str = TEXT) -> bytes:
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
