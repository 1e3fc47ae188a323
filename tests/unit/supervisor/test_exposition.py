"""The port for Prometheus: formats, probes, and callers that say nothing."""

import asyncio
import contextlib
from collections.abc import Iterator

import pytest
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from nodes.supervisor import exposition
from nodes.supervisor.exposition import CONNECTIONS_MAX, Exposition

OPEN_METRICS = "Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5"


class One(Collector):
    def collect(self) -> Iterator[Metric]:
        calls = CounterMetricFamily("cloverlab_calls", "Calls")
        calls.add_metric([], 3)
        yield calls


async def asked(port: int, *lines: str) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write("".join(f"{line}\r\n" for line in (*lines, "")).encode())
    found = b""
    with contextlib.suppress(ConnectionResetError):
        found = await reader.read()
    writer.close()
    return found.decode()


def with_port(body: object, reasons: dict[str, str]) -> None:
    async def run() -> None:
        probes = {path: lambda path=path: reasons[path] for path in reasons}
        server = await Exposition(One(), probes).listen(0, "127.0.0.1")  # type: ignore[arg-type]
        async with server:
            await body(server.sockets[0].getsockname()[1])  # type: ignore[operator]

    asyncio.run(run())


def test_the_format_is_what_the_caller_accepts() -> None:
    async def body(port: int) -> None:
        old = await asked(port, "GET /metrics HTTP/1.1", "Host: mds1:9100")
        assert "text/plain; version=0.0.4" in old and "cloverlab_calls_total 3.0" in old
        new = await asked(port, "GET /metrics HTTP/1.1", OPEN_METRICS)
        assert "application/openmetrics-text" in new and new.endswith("# EOF\n")

    with_port(body, {})


def test_a_probe_fails_with_its_reason() -> None:
    async def body(port: int) -> None:
        assert " 200 OK" in await asked(port, "GET /healthz HTTP/1.1")
        unready = await asked(port, "GET /readyz?verbose HTTP/1.1")
        assert " 503 " in unready and unready.endswith("not settled\n")
        assert " 404 " in await asked(port, "GET /api/cluster HTTP/1.1")
        assert " 405 " in await asked(port, "POST /metrics HTTP/1.1")

    with_port(body, {"/healthz": "", "/readyz": "not settled"})


def test_silent_callers_are_few_and_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exposition, "ANSWER_S", 0.3)

    async def body(port: int) -> None:
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(CONNECTIONS_MAX)]
        assert await asked(port, "GET /metrics HTTP/1.1") == "", "the next one is closed at once"
        async with asyncio.timeout(20):
            assert [await reader.read() for reader, _ in silent] == [b""] * CONNECTIONS_MAX
        assert " 200 OK" in await asked(port, "GET /metrics HTTP/1.1")
        assert await asked(port, "GET /" + "x" * 20_000) == ""
        for _, writer in silent:
            writer.close()

    with_port(body, {})
