"""`./cloverlab up --detach`: the control plane in a session of its own, with a log."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from backend import registry, remote_requests
from backend.errors import ClusterCannotStart, Exit, Unavailable, reason_of
from backend.key import key_of, link
from backend.settings import Settings
from backend.startup import GREEN_TIMEOUT_S
from backend.startup import run_up as run_attached

POLL_S = 0.05
READY_S = GREEN_TIMEOUT_S + 30


def run_up(settings: Settings) -> int:
    """Starts the control plane, prints its address when the cluster is settled, and returns. Raises ClusterCannotStart."""
    log = registry.log_of(settings.port)
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ClusterCannotStart(f"cannot write {log}: {reason_of(error)}") from None
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os._exit(run_child(settings, output))
    os.close(output)
    return until_settled(child, settings.port, log)


def run_child(settings: Settings, output: int) -> int:
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    code = run_attached(settings)
    sys.stdout.flush()
    return code


def until_settled(child: int, port: int, log: Path) -> int:
    """Prints the address; 0 when the cluster is settled, the control plane's own exit code when it ended."""
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            sys.stderr.write(log.read_text())
            return os.waitstatus_to_exitcode(status)
        if settled(child, port):
            print(link(port, key_of(port)))
            return Exit.WELL
        time.sleep(POLL_S)
    print(f"cloverlab: not settled after {READY_S:.0f} s, see ./cloverlab logs control", file=sys.stderr)
    return Exit.FAILED


def settled(pid: int, port: int) -> bool:
    if pid not in [plane.pid for plane in registry.listed()]:
        return False
    try:
        return bool(remote_requests.ask(port, "GET", "/api/status")["settled"])
    except Unavailable:
        return False
