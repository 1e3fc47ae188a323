"""The probes of the control plane, and the addresses of the page that they are not."""

import re
from pathlib import Path

import httpx
import pytest

from backend.app import PAGES
from backend.lab import Lab
from tests.unit.backend.test_api import with_api

URLS = Path(__file__).resolve().parents[3] / "frontend" / "src" / "store" / "url.ts"


def test_a_process_is_alive_before_its_cluster_is_ready(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        assert (await client.get("/healthz")).text == "ok\n"
        unready = await client.get("/readyz")
        assert (unready.status_code, unready.text) == (503, "not every server has its place\n")

    with_api(tmp_path, ask)


def test_a_settled_cluster_is_ready_until_an_invariant_is_violated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        monkeypatch.setattr(lab.fabric, "settled", lambda: True)
        assert (await client.get("/readyz")).text == "ready\n"
        red = [{"invariant": "one active", "state": "red"}, {"invariant": "dense journal", "state": "green"}]
        monkeypatch.setattr(lab.checks, "invariants", lambda: red)
        violated = await client.get("/readyz")
        assert (violated.status_code, violated.text) == (503, "violated: one active\n")

    with_api(tmp_path, ask)


def test_the_addresses_of_the_page_are_those_of_its_source() -> None:
    table = re.search(r"const ADDRESSES[^{]*\{(.*?)\}", URLS.read_text(), re.DOTALL)
    assert table and set(re.findall(r'"/([^"]*)"', table[1])) == PAGES
