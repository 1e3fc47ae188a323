"""A quorum of journal nodes as real processes: the active and a journal node are killed, calls continue."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.status import short, table
from tests.processes.backend.running import Up, up


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Up]:
    with up(tmp_path / "data", "--protocol", "qjm", "--data-nodes", "0") as started:
        yield started
        assert started.end() < 6
        assert "Traceback" not in started.words()


def node(running: Up, name: str) -> dict[str, Any]:
    return next(each for each in running.cluster()["journal_nodes"] if each["name"] == name)


def calls_go_on(running: Up) -> None:
    """A majority of the journal nodes stores another hundred groups."""
    goal = max(each["sn"] for each in running.cluster()["journal_nodes"]) + 100
    running.await_true(
        lambda: sum(each["sn"] >= goal for each in running.cluster()["journal_nodes"]) >= 2,
        f"two journal nodes at sn {goal}",
    )


def test_work_goes_on_without_the_active_and_without_a_journal_node(running: Up) -> None:
    running.await_green()
    reported = running.cluster()
    assert [each["name"] for each in short(reported)["journal_nodes"]] == ["jn1", "jn2", "jn3"]
    assert all(name in table(reported) for name in ("jn1", "jn2", "jn3"))
    calls_go_on(running)
    old = running.active()
    os.kill(running.server(old)["pid"], signal.SIGKILL)
    running.await_true(lambda: running.serving() not in ("", old), "another active")
    calls_go_on(running)
    running.fault("crash", "jn1")
    calls_go_on(running)
    running.fault("restart", "jn1")
    running.fault("restart", old)
    running.await_green()
    stored = node(running, "jn1")["sn"]
    running.await_true(lambda: node(running, "jn1")["sn"] > stored, "jn1 in step again")
    assert {status["state"] for status in running.cluster()["invariants"]} <= {"green", "grey"}
