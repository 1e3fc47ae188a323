"""The API of papers and experiments, and their addresses on the page."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from backend.lab import Lab
from backend.papers.reader import papers
from backend.places import reproduced
from tests.unit.backend.test_api import one_line, with_api

SVG = "<svg xmlns='none'/>"


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))


def test_the_list_and_a_mechanism(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        found = (await client.get("/api/papers")).json()
        assert [row["paper"] for row in found] == [paper.key for paper in papers()]
        assert all(row["mechanisms"] and row["experiments"] for row in found)
        page = (await client.get("/api/papers/cfs/election")).json()
        assert page["name"] == "The election of a new active" and page["steps"][0]["fault"]["verb"] == "crash"
        for missing in ("cfs/none", "raft/election", "..%2fcfs/election", "x" * 300 + "/y"):
            answer = await client.get(f"/api/papers/{missing}")
            assert answer.status_code == 404 and len(one_line(answer)) < 300

    with_api(tmp_path, body)


def test_an_experiment_before_and_after_a_run(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        page = (await client.get("/api/experiments/cfs-fig12")).json()
        assert page["ran_at_s"] == 0 and page["figures"][0]["ours"] is None
        assert (await client.get("/api/experiments/cfs-fig12/plot")).status_code == 404
        reproduced().mkdir(parents=True)
        (reproduced() / "cfs-fig12.json").write_text('{"figures": {"final_sync_10k_ms": 3.5}}')
        (reproduced() / "cfs-fig12.svg").write_text(SVG)
        page = (await client.get("/api/experiments/cfs-fig12")).json()
        assert page["ran_at_s"] > 0
        assert page["figures"] == [{"figure": "final_sync_10k_ms", "theirs": 22.78, "ours": 3.5}]
        plot = await client.get("/api/experiments/cfs-fig12/plot")
        assert (plot.text, plot.headers["content-type"]) == (SVG, "image/svg+xml")
        (reproduced() / "cfs-fig12.json").write_text("{")
        answer = await client.get("/api/experiments/cfs-fig12")
        assert answer.status_code == 422 and "run it again" in one_line(answer)
        for missing in ("cfs-fig99", "..%2f..%2fkey", "x" * 300):
            for rest in ("", "/plot"):
                answer = await client.get(f"/api/experiments/{missing}{rest}")
                assert answer.status_code == 404

    with_api(tmp_path, body)


def test_the_page_has_an_address_for_each(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        for page in ("papers", "papers/cfs/election", "papers/experiments/saa-7.3"):
            assert (await client.get(f"/{page}")).text == "<title>page</title>"
        for missing in ("papers/cfs", "papers/cfs/election/x", "papers/CFS/election"):
            assert (await client.get(f"/{missing}")).status_code == 404

    with_api(tmp_path, body)


@pytest.mark.parametrize(
    ("request_body", "status"),
    [
        ({}, 422),
        ({"paper": "cfs", "mechanism": "none"}, 404),
        ({"paper": "cfs", "mechanism": "election", "x": 1}, 422),
        ({"paper": "x" * 41, "mechanism": "election"}, 422),
    ],
)
def test_a_wrong_request_for_a_cluster_is_refused(
    tmp_path: Path, request_body: dict[str, object], status: int
) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        answer = await client.post("/api/paper-clusters", json=request_body)
        assert answer.status_code == status and one_line(answer)
        answer = await client.get("/api/paper-clusters/main")
        assert answer.status_code == 404 and "start it again" in one_line(answer)

    with_api(tmp_path, body)
