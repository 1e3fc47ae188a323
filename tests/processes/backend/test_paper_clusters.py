"""The cluster of a mechanism's page: started under load, its buttons work, and it is gone after a new start."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.processes.backend.in_process import api

WITHIN_S = 60.0
ELECTION = {"paper": "cfs", "mechanism": "election"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))


async def asked(client: httpx.AsyncClient, method: str, path: str, body: Any = None) -> Any:
    answer = await client.request(method, f"/api/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def settled(client: httpx.AsyncClient, name: str) -> dict[str, Any]:
    async with asyncio.timeout(WITHIN_S):
        while True:
            found: dict[str, Any] = await asked(client, "GET", f"paper-clusters/{name}")
            if found["settled"]:
                return found
            await asyncio.sleep(0.05)


def test_a_reader_causes_an_election(tmp_path: Path) -> None:
    async def run() -> None:
        async with api(tmp_path / "data") as client:
            name = (await asked(client, "POST", "paper-clusters", ELECTION))["name"]
            await asked(client, "POST", f"clusters/{name}/clock", {"playing": True, "speed": 10})
            await settled(client, name)
            cluster = await asked(client, "GET", f"clusters/{name}/cluster")
            assert len(cluster["servers"]) == 4 and cluster["clients"][0]["rate_per_s"] == 20
            page = await asked(client, "GET", "papers/cfs/election")
            await asked(client, "POST", f"clusters/{name}/faults", page["steps"][0]["fault"])
            old = cluster["groups"][0]["active"]
            async with asyncio.timeout(WITHIN_S):
                while (await asked(client, "GET", f"clusters/{name}/cluster"))["groups"][0]["active"] in (
                    "",
                    old,
                ):
                    await asyncio.sleep(0.05)
            await asked(client, "DELETE", f"clusters/{name}")
            assert (await client.get(f"/api/paper-clusters/{name}")).status_code == 404

    asyncio.run(run())


def test_a_new_start_begins_without_the_clusters_of_papers(tmp_path: Path) -> None:
    async def run() -> None:
        async with api(tmp_path / "data") as client:
            name = (await asked(client, "POST", "paper-clusters", ELECTION))["name"]
            assert (await client.post("/api/clusters", json={"name": "paper-x"})).status_code == 422
        async with api(tmp_path / "data") as client:
            assert [each["name"] for each in await asked(client, "GET", "clusters")] == ["main"]
            assert (await client.get(f"/api/paper-clusters/{name}")).status_code == 404

    asyncio.run(run())
