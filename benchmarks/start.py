"""Time of `up` until four servers are in step, in a fresh directory with all packages installed."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from urllib.request import urlopen

from benchmarks.running import report

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 5
LIMIT_S = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def one() -> float:
    """Seconds from the command to four servers in step."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="cloverlab-bench-") as directory:
        command = [sys.executable, str(ROOT / "cloverlab"), "up", "--port", str(port), "--data", directory]
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
        try:
            while not green(port):
                if time.monotonic() - began > LIMIT_S or process.poll() is not None:
                    raise TimeoutError(f"not green within {LIMIT_S:.0f} s")
                time.sleep(0.02)
            return time.monotonic() - began
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)


def green(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/api/cluster", timeout=1) as answer:
            return bool(json.load(answer)["settled"])
    except (OSError, ValueError):
        return False


def main() -> int:
    """Prints one JSON object."""
    one()
    times = [one() for _ in range(ROUNDS)]
    figures = {"up_s": round(median(times), 2), "up_s_max": round(max(times), 2)}
    return report("start", {"rounds": ROUNDS}, figures, {})
