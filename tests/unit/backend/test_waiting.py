"""`wait`: conditions on what the control plane reports."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import pytest

from backend import remote_requests
from backend.cli import entry
from backend.commands.wait import picture_of
from backend.errors import Malformed
from backend.scenarios.conditions import holds_now, state_condition


def cluster(**changes: str) -> dict[str, Any]:
    active = {"name": "mds1", "group": "g1", "role": "active", "believes": "active", "process": "running"}
    standby = {"name": "mds2", "group": "g1", "role": "standby", "believes": "standby", "process": "running"}
    return {
        "servers": [active | changes, standby],
        "groups": [{"name": "g1", "active": "mds1"}],
        "nodes": [],
        "clients": [],
        "coordination": {"process": "running"},
        "invariants": [],
        "trouble": "",
    }


@pytest.mark.parametrize(
    ("text", "changes", "holds"),
    [
        ("settled", {}, True),
        ("settled", {"process": "paused"}, False),
        ("active of g1 serves", {}, True),
        ("active of g1 serves", {"believes": "elected"}, False),
        ("active of g1 is mds1", {}, True),
        ("active of g1 is mds2", {}, False),
        ("active of g1 is mds1", {"process": "stopped"}, False),
        ("primary of g1 is mds1", {"role": "primary", "believes": "primary"}, True),
        ("mds2 is standby", {}, True),
        ("1 standby in g1", {}, True),
        ("2 standbys in g1", {}, False),
    ],
)
def test_conditions(text: str, changes: dict[str, str], holds: bool) -> None:
    assert holds_now(text, picture_of(cluster(**changes))) == holds


@pytest.mark.parametrize("text", ["happy", "step upgrade 4 of g1", "blocks whole", "reported Serving"])
def test_what_is_no_condition_on_the_state_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        state_condition(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("mds9 is standby", "no server is called 'mds9'; there are mds1, mds2"),
        ("active of g1 is mds9", "no server is called 'mds9'; there are mds1, mds2"),
        ("active of g2 is mds1", "no group is called 'g2'; there are g1"),
        ("primary of g2 serves", "no group is called 'g2'; there are g1"),
        ("2 standbys in g2", "no group is called 'g2'; there are g1"),
    ],
)
def test_who_does_not_exist_is_not_waited_for(
    text: str, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(remote_requests, "ask", lambda *_, **__: cluster())
    assert entry(["wait", *text.split(), "--timeout", "1"]) == 3
    assert capsys.readouterr().err == f"cloverlab: {says}\n"


def test_a_server_that_was_added_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    reported = cluster()
    reported["servers"].append(reported["servers"][1] | {"name": "mds9", "role": "junior"})

    def ask(*_: Any, **__: Any) -> dict[str, Any]:
        before: dict[str, Any] = json.loads(json.dumps(reported))
        reported["servers"][2]["role"] = "standby"
        return before

    monkeypatch.setattr(remote_requests, "ask", ask)
    assert entry(["wait", "mds9", "is", "standby", "--timeout", "5"]) == 0


def test_what_is_not_settled_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(remote_requests, "ask", lambda *_, **__: cluster(process="paused"))
    assert entry(["wait", "settled", "--timeout", "0.1"]) == 1
    assert capsys.readouterr().err == "cloverlab: not within 0.1 s: settled (mds1 is paused)\n"


def test_a_control_plane_that_accepts_and_never_answers_is_not_waited_for_longer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        before = time.monotonic()
        assert entry(["wait", "settled", "--timeout", "0.3", "--port", str(port)]) == 4
        assert time.monotonic() - before < 20
    assert "did not answer within" in capsys.readouterr().err
