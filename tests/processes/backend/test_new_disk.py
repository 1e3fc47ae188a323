"""Servers as processes get empty disks: they are renewed, and no answered write is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend import remote_requests
from tests.chosen import but_for_slow
from tests.processes.backend.running import up

KINDS = {"mams": "mds2", "qjm": "jn2"}


@pytest.mark.parametrize("protocol", but_for_slow(KINDS, ("qjm",)))
def test_an_empty_disk_is_filled_again(tmp_path: Path, protocol: str) -> None:
    data, name = tmp_path / "data", KINDS[protocol]
    with up(data, "--protocol", protocol, "--standbys", "2", "--data-nodes", "0") as running:
        remote_requests.ask(running.port, "POST", "/api/fs", {"do": "mkdir", "path": "/kept"})
        before = (data / "servers" / name / "disk").read_bytes()
        running.fault("new_disk", name)
        left = sorted(path.name for path in (data / "servers" / name).iterdir())
        assert "journal" not in left and "disk" not in left and "trace" in left
        running.fault("restart", name)
        running.await_true((data / "servers" / name / "disk").exists, "another identity")
        assert (data / "servers" / name / "disk").read_bytes() != before
        if protocol == "mams":
            running.await_true(lambda: running.server(name)["role"] == "junior", "mds2 behind")
            running.await_true(lambda: running.server(name)["role"] == "standby", "mds2 in step")
        active = running.active()
        running.fault("crash", active)
        reported = remote_requests.ask(running.port, "POST", "/api/fs", {"do": "stat", "path": "/kept"})
        assert reported["result"]["kind"] == "directory"
        running.fault("restart", active)
        running.await_green()
        assert [status for status in running.cluster()["invariants"] if status["state"] != "green"] == []
        running.end()
        assert "Traceback" not in running.words()
