"""A server whose port another program has taken while it was down starts at another one, and the others find it there."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from backend import remote_requests
from tests.chosen import but_for_slow
from tests.processes.backend.running import up

FAMILIES = ("mams", "qjm", "symmetric")


@pytest.mark.parametrize("protocol", but_for_slow(FAMILIES, ("symmetric",)))
def test_a_server_at_another_port_is_found(tmp_path: Path, protocol: str) -> None:
    """The group cannot do without it when another one has died."""
    data = tmp_path / "data"
    with up(data, "--protocol", protocol, "--standbys", "2", "--data-nodes", "0") as running:
        remote_requests.ask(running.port, "POST", "/api/fs", {"do": "mkdir", "path": "/before"})
        leader = running.active() if protocol != "symmetric" else "mds1"
        moved, lost = [name for name in ("mds1", "mds2", "mds3") if name != leader]
        if protocol == "qjm":
            moved, lost = "jn2", "jn3"
        running.fault("crash", moved)
        port = json.loads((data / "cluster.json").read_bytes())["ports"][moved]
        with socket.create_server(("127.0.0.1", port)):
            running.fault("restart", moved)
            assert json.loads((data / "cluster.json").read_bytes())["ports"][moved] != port
            running.await_green()
            running.fault("crash", lost)
            reported = remote_requests.ask(running.port, "POST", "/api/fs", {"do": "mkdir", "path": "/after"})
            assert reported["result"] is not None
            running.fault("restart", lost)
            running.await_green()
        running.end()
        assert "Traceback" not in running.words()
