"""Requests of the command line to the control plane at a port."""

from __future__ import annotations

import contextlib
import http.client
from collections.abc import Iterator
from typing import Any, Protocol

import msgspec

from backend.errors import RequestRefused, Unavailable
from backend.key import authorization, key_of

TIMEOUT_S = 75.0
PART_BYTES = 1 << 16


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Writable(Protocol):
    def write(self, data: bytes, /) -> int: ...


def ask(
    port: int, method: str, path: str, body: dict[str, Any] | None = None, timeout_s: float = TIMEOUT_S
) -> Any:
    """Raises LabError with the control plane's own line, or with one that says that no control plane answers."""
    data = None if body is None else msgspec.json.encode(body)
    with talking(port, timeout_s) as connection:
        headers = {"Content-Type": "application/json"} if data else {}
        connection.request(method, path, data, headers | authorization(key_of(port)))
        return answer_of(connection.getresponse())


def send(port: int, method: str, path: str, file: Readable) -> Any:
    """Sends the content of a file part by part. Raises LabError like `ask`."""
    with talking(port) as connection:
        try:
            parts = iter(lambda: file.read(PART_BYTES), b"")
            connection.request(method, path, parts, authorization(key_of(port)), encode_chunked=True)
        except (BrokenPipeError, ConnectionResetError):
            """The server refused the request before it read the body; the response has the reason."""
        return answer_of(connection.getresponse())


def receive(port: int, path: str, file: Writable) -> None:
    """Writes a response's body to a file part by part. Raises LabError like `ask`, and OSError of the file."""
    failed: OSError | None = None
    with talking(port) as connection:
        connection.request("GET", path, headers=authorization(key_of(port)))
        response = connection.getresponse()
        if response.status >= 400:
            answer_of(response)
        try:
            while failed is None and (part := response.read(PART_BYTES)):
                failed = _write(file, part)
        except http.client.HTTPException:
            raise Unavailable("the content ends too early: the cluster did not give the rest of it") from None
    if failed is not None:
        raise failed


def _write(file: Writable, part: bytes) -> OSError | None:
    """The error of the local file, which says nothing about the connection."""
    try:
        file.write(part)
    except OSError as error:
        return error
    return None


def answer_of(response: http.client.HTTPResponse) -> Any:
    """Raises LabError for a refusal, ValueError for a response of another program."""
    answer = msgspec.json.decode(response.read())
    if response.status >= 400:
        line = answer.get("error", "") if isinstance(answer, dict) else ""
        raise RequestRefused(line or f"refused with {response.status}", response.status)
    return answer


@contextlib.contextmanager
def talking(port: int, timeout_s: float = TIMEOUT_S) -> Iterator[http.client.HTTPConnection]:
    """A connection to the control plane. Raises Unavailable in one line when it fails.

    A control plane lists itself before it listens: its key can be found once a connection stands.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        connection.connect()
        yield connection
    except ConnectionRefusedError:
        raise Unavailable(
            f"no control plane at port {port}: start one with ./cloverlab up, or give its --port"
        ) from None
    except TimeoutError:
        raise Unavailable(
            f"the control plane at port {port} did not answer within {timeout_s:.3g} s"
        ) from None
    except (OSError, http.client.HTTPException, ValueError):
        raise Unavailable(f"the server at port {port} is not a control plane of Cloverlab") from None
    finally:
        connection.close()
