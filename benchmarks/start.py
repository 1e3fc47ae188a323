"""Time of `up` until four servers are in step, in a fresh directory: with all packages installed, and from nothing but the wheels of the packages."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from urllib.request import urlopen

from benchmarks._cluster import report

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 5
LIMIT_S = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def up_s(*command: str, **environment: str) -> float:
    """Seconds from the command to four servers in step."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="cloverlab-bench-") as directory:
        began = time.monotonic()
        process = subprocess.Popen(
            [*command, "up", "--port", str(port), "--data", directory],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=directory, env=os.environ | environment,
        )  # fmt: skip
        try:
            while not ready(port):
                if time.monotonic() - began > LIMIT_S or process.poll() is not None:
                    raise TimeoutError(f"not ready within {LIMIT_S:.0f} s")
                time.sleep(0.02)
            return time.monotonic() - began
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)


def one() -> float:
    return up_s(sys.executable, str(ROOT / "cloverlab"))


def ready(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=1):
            return True
    except OSError:
        return False


def installed() -> dict[str, float]:
    """Installs our wheel and its packages into a new environment, from files, and starts it there for the first time."""
    with tempfile.TemporaryDirectory(prefix="cloverlab-wheel-") as name:
        wheels, environment = Path(name, "wheels"), Path(name, "environment")
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "download", "-q", "-d", wheels, "-r", ROOT / "requirements.lock"], check=True)
        subprocess.run([*pip, "wheel", "-q", "--no-deps", "-w", wheels, ROOT], check=True)
        began = time.monotonic()
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
        [wheel] = wheels.glob("cloverlab-*.whl")
        into = ["--python", str(environment), "install", "-q", "--no-index", "--find-links", str(wheels)]
        subprocess.run([*pip, *into, str(wheel)], check=True)
        install_s = time.monotonic() - began
        install_up_s = install_s + up_s(str(environment / "bin" / "cloverlab"), PYTHONPATH="")
        size = sum(file.lstat().st_size for file in environment.rglob("*"))
        return {
            "install_s": round(install_s, 2),
            "install_up_s": round(install_up_s, 2),
            "install_mb": round(size / 1e6, 1),
        }


def main() -> int:
    """Prints one JSON object."""
    one()
    times = [one() for _ in range(ROUNDS)]
    figures = {"up_s": round(median(times), 2), "up_s_max": round(max(times), 2), **installed()}
    return report("start", {"rounds": ROUNDS}, figures, {})
