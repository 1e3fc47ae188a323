"""A machine that sleeps while the embedded coordination server is followed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from backend.fabrics import coordination
from backend.fabrics.children import Roster
from backend.fabrics.coordination import EmbeddedEnsemble
from backend.fabrics.home import Home
from nodes.config import one_group
from nodes.trace.base import Event
from nodes.trace.events import LockHeld
from nodes.trace.present import UNKNOWN, Cause

SLEPT_NS = 8 * 3_600 * 1_000_000_000


def test_changes_after_a_sleep_have_the_time_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[int] = []

    def report(server: str, event: Event, at_ns: int = 0, cause: Cause = UNKNOWN) -> None:
        if isinstance(event, LockHeld):
            found.append(at_ns)

    home = Home.make(tmp_path, one_group(1))
    try:
        ensemble = EmbeddedEnsemble(home, Roster(tmp_path), report)
        real = coordination.monotonic_ns
        line = {
            "path": "/cloverlab/groups/g1/lock",
            "data": '{"owner": "mds1"}',
            "session": 1,
            "op": "create",
        }
        ensemble._on_line({**line, "at_ns": time.monotonic_ns()})
        monkeypatch.setattr(coordination, "monotonic_ns", lambda: real() + SLEPT_NS)
        ensemble._on_line({**line, "data": '{"owner": "mds2"}', "at_ns": time.monotonic_ns()})
    finally:
        home.close()
    assert abs(found[1] - found[0] - SLEPT_NS) < 5_000_000_000
