"""Requests of the command line to a control plane that is starting."""

from __future__ import annotations

import socket

import pytest

from backend import remote_requests
from backend.errors import Unavailable


def test_the_key_is_looked_for_only_when_a_control_plane_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file may be written between a look and a connection; the request would then come without a key, and be refused."""
    asked: list[int] = []

    def key_of(port: int) -> str:
        asked.append(port)
        return ""

    monkeypatch.setattr(remote_requests, "key_of", key_of)
    with socket.socket() as starting:
        starting.bind(("127.0.0.1", 0))
        with pytest.raises(Unavailable, match="no control plane"):
            remote_requests.ask(starting.getsockname()[1], "GET", "/api/cluster")
    assert asked == []
