"""An idle group asks the coordination service nothing: it watches."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.sim.coordination import SimCoordination
from tests.simulation.symmetric.lab import SymmetricLab


def test_idle_members_send_no_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    call = SimCoordination._call

    async def counted(self: SimCoordination, operation: Any, *more: Any, **named: Any) -> Any:
        asked.append(operation)
        return await call(self, operation, *more, **named)

    monkeypatch.setattr(SimCoordination, "_call", counted)
    lab = SymmetricLab(1)
    lab.ada.call(Mkdir("/a"))
    lab.run_ms(5_000)
    assert asked
    asked.clear()
    lab.cluster.run_for(30 * SECOND)
    assert asked == []


def test_a_server_that_is_added_after_long_is_known_to_all() -> None:
    lab = SymmetricLab(2)
    lab.run_ms(30_000)
    lab.faults.add_server("g1")
    lab.cluster.run_until(lambda: lab.cluster.view().get("mds4") == "M", 5 * SECOND)
    lab.ada.call(Mkdir("/b"))
    lab.faults.expire_session("mds1")
    lab.run_ms(10_000)
    lab.faults.add_server("g1")
    lab.cluster.run_until(lambda: lab.cluster.view().get("mds5") == "M", 5 * SECOND)
    lab.eve.call(Stat("/b"))
    lab.finish()
    assert lab.broken() == {}
