"""The content of files over the API of a lab without running processes: refusals and their form."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from backend.gate import CONTENT_BYTES
from backend.lab import Lab
from tests.unit.backend.test_api import one_line, with_api


def test_a_cluster_without_data_nodes_says_so(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        lab.fabric.picture.nodes.clear()
        for method in ("PUT", "POST", "GET"):
            answer = await client.request(method, "/api/fs/content?path=/f", content=b"x")
            assert answer.status_code == 409 and "--data-nodes" in one_line(answer)

    with_api(tmp_path, ask)


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/api/fs/content", {}, 422),
        ("/api/fs/content?path=" + "x" * 9000, {}, 422),
        ("/api/fs/content?path=/f", {"Content-Length": str(CONTENT_BYTES + 1)}, 413),
        ("/api/fs/content?path=/f", {"Host": "elsewhere"}, 403),
    ],
)
def test_what_is_malformed_is_refused(
    tmp_path: Path, path: str, headers: dict[str, str], status: int
) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        answer = await client.put(path, headers=headers)
        assert answer.status_code == status
        one_line(answer)

    with_api(tmp_path, ask)


def test_data_nodes_are_reported_of(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        reported = (await client.get("/api/cluster")).json()["data_nodes"]
        assert [node["name"] for node in reported] == ["dn1", "dn2", "dn3"]
        assert {node["process"] for node in reported} == {"stopped"}
        refused = await client.post("/api/faults", json={"verb": "crash", "targets": ["dn2"]})
        assert refused.status_code == 409 and "dn2 does not run" in one_line(refused)

    with_api(tmp_path, ask)
