"""Refusals of a handover by the API, before any server is asked."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from backend.lab import Lab
from backend.shape import Shape
from nodes.families import FAMILIES
from tests.unit.backend.test_api import one_line, with_api


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/api/groups/g9/handover", {}, 404, "no group is called 'g9'"),
        ("/api/groups/g1/handover", {"server": "mds9"}, 404, "no server is called 'mds9'"),
        ("/api/groups/g1/handover", {"server": "x" * 101}, 422, "server"),
        ("/api/groups/g1/handover", {"to": "mds1"}, 422, "to"),
        ("/api/groups/g1/handover", {"server": "mds1"}, 503, "g1 has no active now"),
    ],
)
def test_a_wrong_handover_gets_one_line(
    tmp_path: Path, path: str, body: dict[str, str], status: int, says: str
) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        response = await client.post(path, json=body)
        assert (response.status_code, says in one_line(response)) == (status, True), response.text

    with_api(tmp_path, ask)


@pytest.mark.parametrize("protocol", FAMILIES)
def test_a_family_that_hands_nothing_over_says_why(protocol: str, tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        response = await client.post("/api/groups/g1/handover", json={})
        able = protocol in ("mams", "2pc", "backupnode")
        assert response.status_code == (503 if able else 409)
        assert able or FAMILIES[protocol].cannot_hand_over in one_line(response)

    with_api(tmp_path, ask, Shape(protocol=protocol))
