"""A link with a student's key does not take the instructor's cookie away."""

from __future__ import annotations

from pathlib import Path

import httpx

from backend.key import key_in
from backend.lab import Lab
from tests.unit.backend.test_api import with_api


def test_a_students_link_in_the_instructors_browser_changes_nothing(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        code = (await client.post("/api/class", json={})).json()["code"]
        key = (await client.post("/api/class/join", json={"code": code, "name": "Eve"})).json()["key"]
        del client.headers["Authorization"]
        await client.get(f"/?key={key_in(lab.home.path)}")
        opened = await client.get(f"/labs?key={key}")
        assert opened.status_code == 303 and key not in opened.headers["set-cookie"]
        assert (await client.get("/api/class/me")).json()["name"] == ""
        assert (await client.get("/api/cluster")).status_code == 200
        client.cookies = httpx.Cookies()
        await client.get(f"/labs?key={key}")
        assert (await client.get("/api/class/me")).json()["name"] == "Eve"

    with_api(tmp_path, body)
