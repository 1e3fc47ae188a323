"""The command line's questions to the control plane at a port."""

from __future__ import annotations

import http.client
from typing import Any

import msgspec

from backend.errors import LabError, Unavailable

TIMEOUT_S = 75.0


def ask(port: int, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """Raises LabError with the control plane's own line, or one that says that nobody is there."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    octets = None if body is None else msgspec.json.encode(body)
    try:
        connection.request(method, path, octets, {"Content-Type": "application/json"} if octets else {})
        response = connection.getresponse()
        answer = msgspec.json.decode(response.read())
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
    if response.status >= 400:
        raise LabError(
            answer.get("error", f"refused with {response.status}") if isinstance(answer, dict) else "refused"
        )
    return answer
