"""A control plane with a simulated cluster, as `./cloverlab up` starts it, for benchmarks of what people and programs see of it."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

from backend.key import authorization
from benchmarks.start import LIMIT_S, ROOT, free_port, ready


@contextlib.contextmanager
def simulated(name: str) -> Iterator[tuple[int, int]]:
    """Its port and its pid. It is ended, and its files are removed, with the context. Raises TimeoutError."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix=f"cloverlab-{name}-") as directory:
        command = [sys.executable, str(ROOT / "cloverlab"), "up", "--on", "simulated", "--port", str(port)]
        process = subprocess.Popen(
            [*command, "--data", directory], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            until_s = time.monotonic() + LIMIT_S
            while not ready(port):
                if time.monotonic() > until_s or process.poll() is not None:
                    raise TimeoutError(f"not ready within {LIMIT_S:.0f} s")
                time.sleep(0.1)
            yield port, process.pid
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(LIMIT_S)


def ask(port: int, key: str, method: str, path: str, body: Any = None) -> Any:
    data = json.dumps(body).encode() if body is not None else None
    headers = {"Content-Type": "application/json"} | authorization(key)
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/{path}", data, headers, method=method)
    with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
        return json.load(answer)
