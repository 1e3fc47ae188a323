"""A class whose control plane is killed: what was answered is kept, and everyone goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from backend import remote_requests
from backend.key import authorization
from tests.processes.backend.running import START_S, Up, up

LAB = "what-is-a-standby"
SECOND = 1_000_000_000
ANSWERS = {"how-long": 4.5, "standbys-left": 2, "failed-calls": "0"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))


def ask(running: Up, key: str, method: str, path: str, body: Any = None) -> Any:
    answer = httpx.request(
        method,
        f"http://127.0.0.1:{running.port}/api/{path}",
        json=body,
        headers=authorization(key),
        timeout=START_S,
    )
    assert answer.status_code == 200, f"{method} {path}: {answer.status_code} {answer.text}"
    return answer.json()


def clock_of(running: Up, key: str, cluster: str) -> dict[str, Any]:
    clock: dict[str, Any] = ask(running, key, "GET", f"clusters/{cluster}/clock")
    return clock


def test_a_killed_control_plane_loses_nothing_that_it_answered(tmp_path: Path) -> None:
    with up(tmp_path / "data", "--on", "simulated") as before:
        opened = remote_requests.ask(before.port, "POST", "/api/class", {"name": "DS 101"})
        keys = {
            name: ask(before, "", "POST", "class/join", {"code": opened["code"], "name": name})["key"]
            for name in ("Ada", "Eve")
        }
        free = ask(before, keys["Eve"], "POST", "class/me/cluster")["name"]
        attempt = ask(before, keys["Ada"], "POST", "attempts", {"lab": LAB, "student": "Ada"})["name"]
        before.await_true(
            lambda: clock_of(before, keys["Eve"], free)["now_ns"] > 3 * SECOND, "3 s of Eve's run"
        )
        ask(before, keys["Ada"], "POST", f"attempts/{attempt}/answers", {"answers": ANSWERS})
        before.process.kill()
        before.process.wait()
    with up(tmp_path / "data", "--on", "simulated") as after:
        wall = after.get("/api/class/wall")
        assert wall["code"] == opened["code"] and {tile["name"] for tile in wall["tiles"]} == {*keys}
        for name, key in keys.items():
            assert ask(after, key, "GET", "class/me")["name"] == name
        again = ask(after, keys["Ada"], "POST", "class/me/cluster")["name"]
        found = ask(after, keys["Ada"], "GET", f"attempts/{again}")
        assert found["lab"] == LAB
        assert [step["answer"] for step in found["steps"]][:3] == ["4.5", "2", "0"]
        own = ask(after, keys["Eve"], "POST", "class/me/cluster")["name"]
        after.await_true(
            lambda: not clock_of(after, keys["Eve"], own)["playing"], "the end of Eve's stored run"
        )
        assert own != free and clock_of(after, keys["Eve"], own)["now_ns"] > SECOND
