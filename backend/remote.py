"""The command line's questions to the control plane at a port."""

from __future__ import annotations

import contextlib
import http.client
from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

from backend.errors import LabError, Unavailable

TIMEOUT_S = 75.0
PART_OCTETS = 1 << 16


def ask(port: int, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """Raises LabError with the control plane's own line, or one that says that nobody is there."""
    octets = None if body is None else msgspec.json.encode(body)
    with talking(port) as connection:
        connection.request(method, path, octets, {"Content-Type": "application/json"} if octets else {})
        return answer_of(connection.getresponse())


def send(port: int, method: str, path: str, file: BinaryIO) -> Any:
    """Sends all that a file gives, a part at a time. Raises LabError like `ask`."""
    with talking(port) as connection:
        try:
            connection.request(method, path, iter(lambda: file.read(PART_OCTETS), b""), encode_chunked=True)
        except (BrokenPipeError, ConnectionResetError):
            """It was refused before it was read: the answer says why."""
        return answer_of(connection.getresponse())


def receive(port: int, path: str, file: BinaryIO) -> None:
    """Writes an answer's body to a file, a part at a time. Raises LabError like `ask`."""
    with talking(port) as connection:
        connection.request("GET", path)
        response = connection.getresponse()
        if response.status >= 400:
            answer_of(response)
        try:
            while part := response.read(PART_OCTETS):
                file.write(part)
        except http.client.HTTPException:
            raise Unavailable("the file ends too early: no data node gives the rest of it") from None


def answer_of(response: http.client.HTTPResponse) -> Any:
    """Raises LabError for a refusal, ValueError for what is no answer of ours."""
    answer = msgspec.json.decode(response.read())
    if response.status >= 400:
        raise LabError(
            answer.get("error", f"refused with {response.status}") if isinstance(answer, dict) else "refused"
        )
    return answer


@contextlib.contextmanager
def talking(port: int) -> Iterator[http.client.HTTPConnection]:
    """A connection to the control plane. Raises Unavailable in one line for whatever goes wrong with it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    try:
        yield connection
    except ConnectionRefusedError:
        raise Unavailable(
            f"no control plane at port {port}: start one with ./cloverlab up, or give its --port"
        ) from None
    except TimeoutError:
        raise Unavailable(
            f"the control plane at port {port} did not answer within {TIMEOUT_S:.0f} s"
        ) from None
    except (OSError, http.client.HTTPException, ValueError):
        raise Unavailable(f"what listens at port {port} is no control plane of Cloverlab") from None
    finally:
        connection.close()
