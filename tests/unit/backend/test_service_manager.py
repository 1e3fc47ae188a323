"""What systemd receives."""

import socket
from pathlib import Path

import pytest

from backend.service_manager import READY, STOPPING, notify

UNIT = Path(__file__).resolve().parents[3] / "deploy" / "systemd" / "cloverlab.service"


@pytest.mark.parametrize("abstract", [False, True])
def test_the_service_manager_learns_that_the_service_is_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, abstract: bool
) -> None:
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind("\0" + path if abstract else path)
        manager.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", f"@{path}" if abstract else path)
        notify(READY, "STATUS=settled")
        assert manager.recv(1000) == b"READY=1\nSTATUS=settled"
        notify(STOPPING)
        assert manager.recv(1000) == b"STOPPING=1"


@pytest.mark.parametrize("address", ["", "relative", "/nothing/there"])
def test_without_a_service_manager_nothing_happens(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    notify(READY)


def test_the_unit_waits_for_that_message() -> None:
    lines = UNIT.read_text().splitlines()
    assert "Type=notify" in lines and "NotifyAccess=all" in lines, (
        "cloverlab starts the interpreter of its libraries"
    )
