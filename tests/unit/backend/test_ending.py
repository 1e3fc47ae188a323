import asyncio
import contextlib
import json
import logging
import socket

import pytest
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from backend import web_server
from backend.unfinished_responses import Unfinished
from backend.web_server import WebServer
from nodes.errors import FsError

NEVER = "/never"
HALF = "/half"
ENDS_WITHIN_S = 2.0


async def slow(scope: Scope, receive: Receive, send: Send) -> None:
    """An application whose responses never end; under `/half` it begins one."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
    elif scope["path"] == HALF:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
    await asyncio.Event().wait()


def request(path: str, *headers: str) -> bytes:
    lines = (f"GET {path} HTTP/1.1", "Host: 127.0.0.1", *headers)
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode()


async def broken(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that begins a response and loses its source; the framework reports it so."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"half", "more_body": True})
    raise RuntimeError("response already started") from FsError("EIO", "no data node gives block 7")


UPGRADE = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13")
SOCKET = request("/socket", *UPGRADE, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")


def ended_under_way(app: ASGIApp, asked: bytes, sign: bytes = b"") -> bytes:
    """The bytes that a caller received when the server ended during its call, after `sign` had arrived."""

    async def body() -> bytes:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            config = uvicorn.Config(
                app, lifespan="off", log_config=None, ws="websockets-sansio", timeout_graceful_shutdown=2
            )
            server = WebServer(config)
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            writer.write(asked)
            received = b""
            async with asyncio.timeout(5):
                while not (server.server_state.tasks or server.server_state.total_requests):
                    await asyncio.sleep(0)
                while sign not in received:
                    received += await reader.read(1000)
            server.should_exit = True
            async with asyncio.timeout(ENDS_WITHIN_S):
                await serving
            with contextlib.suppress(ConnectionResetError):
                received += await reader.read()
            writer.close()
            return received

    return asyncio.run(body())


def test_a_call_without_an_answer_is_reported_so_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    received = ended_under_way(Unfinished(slow), request(NEVER))
    head, _, line = received.partition(b"\r\n\r\n")
    assert b" 503 " in head.splitlines()[0] and "stopping" in json.loads(line)["error"]
    assert errors(caplog) == []


def test_an_answer_that_has_begun_ends_with_its_connection(caplog: pytest.LogCaptureFixture) -> None:
    received = ended_under_way(Unfinished(slow), request(HALF), b"half")
    assert b"half" in received and not received.endswith(b"0\r\n\r\n"), "it must not look whole"
    assert errors(caplog) == []


def test_a_stream_of_events_is_closed(caplog: pytest.LogCaptureFixture) -> None:
    received = ended_under_way(Unfinished(slow), SOCKET, b" 101 ")
    assert b" 101 " in received.splitlines()[0]
    assert errors(caplog) == []


def test_an_answer_whose_rest_cannot_be_had_breaks_off_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    received = ended_under_way(Unfinished(broken), request(HALF), b"half")
    assert not received.endswith(b"0\r\n\r\n")
    reported = errors(caplog)
    assert "/half broke off: EIO: no data node gives block 7" in reported[0].getMessage()
    assert not any(record.exc_info for record in reported)


def test_without_the_guard_there_would_be_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    ended_under_way(slow, request(NEVER))
    assert any(record.exc_info for record in errors(caplog))


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: 127"])
def test_a_connection_without_a_whole_head_is_closed(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request in work and an open socket stay."""
    monkeypatch.setattr(web_server, "HEAD_S", 0.3)

    async def body() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            config = uvicorn.Config(slow, lifespan="off", log_config=None, ws="websockets-sansio")
            server = WebServer(config)
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            opened = [await asyncio.open_connection(*listener.getsockname()) for _ in range(3)]
            for (_, writer), words in zip(opened, (request(NEVER), SOCKET, sent), strict=True):
                writer.write(words)
            assert b" 101 " in await opened[1][0].readline()
            async with asyncio.timeout(20):
                with contextlib.suppress(ConnectionResetError):
                    assert await opened[2][0].read() == b""
            assert len(server.server_state.connections) == 2
            server.should_exit = True
            await serving
            for _, writer in opened:
                writer.close()

    asyncio.run(body())


def errors(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.levelno >= logging.WARNING]
