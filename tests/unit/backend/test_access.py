"""The key of the API: who is let in with it, and that nobody is without."""

import asyncio
import os
from pathlib import Path

import httpx
import pytest
from starlette.types import Message, Scope

from backend.access import Access
from backend.errors import ClusterCannotStart
from backend.key import authorization, key_in, key_of, link
from backend.lab import Lab
from backend.places import running_file
from backend.registry import ControlPlane, forget, record, registered
from tests.unit.backend.test_api import URL, one_line, with_api

OPEN = ("/healthz", "/metrics")
KEY = "k" * 43


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer x"}, {"Cookie": "cloverlab-key-8080=x"}])
def test_without_the_key_only_probes_and_metrics_answer(tmp_path: Path, headers: dict[str, str]) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        del client.headers["Authorization"]
        for path in OPEN:
            assert (await client.get(path, headers=headers)).status_code == 200
        for method, path in (
            ("GET", "/api/cluster"),
            ("POST", "/api/faults"),
            ("PUT", "/api/fs/content?path=/a"),
        ):
            refused = await client.request(method, path, headers=headers)
            assert refused.status_code == 401 and "CLOVERLAB_KEY" in one_line(refused)
        for path in ("/", "/namespace", "/assets/a.js", "/?key=wrong", "/nothing"):
            page = await client.get(path, headers=headers)
            assert page.status_code == 401 and "./cloverlab up" in page.text and "title>page" not in page.text

    with_api(tmp_path, ask)


def test_the_link_sets_a_cookie_and_leads_to_the_address_without_the_key(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        del client.headers["Authorization"]
        key = key_in(lab.home.path)
        assert link(8080, key) == f"{URL}/?key={key}"
        opened = await client.get(f"/namespace?key={key}&path=%2Fa%20b")
        assert (opened.status_code, opened.headers["location"]) == (303, "/namespace?path=%2Fa+b")
        cookie = opened.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=strict" in cookie and "cloverlab-key-8080=" in cookie
        assert (await client.get("/api/cluster")).status_code == 200, "the cookie lets in"
        client.cookies = httpx.Cookies()
        assert (await client.get(f"/api/cluster?key={key}")).status_code == 401, "an API call has no link"

    with_api(tmp_path, ask)


def test_a_link_never_leads_to_another_site(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        key = key_in(lab.home.path)
        for path in ("//evil.example/x", "/%2Fevil.example", "/%5Cevil.example"):
            where = (await client.get(f"{URL}{path}?key={key}")).headers["location"]
            assert where.startswith("/") and not where.startswith(("//", "/\\")), where

    with_api(tmp_path, ask)


def test_a_forged_host_is_no_key(tmp_path: Path) -> None:
    """What reaches the port from another machine may write any Host."""

    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        del client.headers["Authorization"]
        body = {"verb": "power_loss", "targets": ["active of g1"]}
        refused = await client.post("/api/faults", json=body, headers={"Host": "127.0.0.1:8080"})
        assert refused.status_code == 401

    with_api(tmp_path, ask)


@pytest.mark.parametrize(("cookie", "closed"), [("", True), (KEY[1:], True), (KEY, False)])
def test_a_socket_needs_the_cookie_too(cookie: str, closed: bool) -> None:
    sent: list[Message] = []

    async def app(scope: Scope, receive: object, send: object) -> None:
        sent.append({"type": "reached"})

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"host", b"127.0.0.1:8080"), (b"cookie", f"cloverlab-key-8080={cookie}".encode())]
    scope = {
        "type": "websocket",
        "path": "/api/stream",
        "query_string": f"key={KEY}".encode(),
        "headers": headers,
    }
    asyncio.run(Access(app, KEY)(scope, receive, send))
    assert sent[0]["type"] == ("websocket.close" if closed else "reached")


def test_the_key_outlives_the_control_plane_and_is_its_owners_alone(tmp_path: Path) -> None:
    key = key_in(tmp_path)
    (tmp_path / "key").chmod(0o644)
    assert key_in(tmp_path) == key and len(key) >= 32
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 40 + b"\n\n1"])
def test_a_damaged_key_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(ClusterCannotStart, match="is no key"):
        key_in(tmp_path)


def test_the_command_line_finds_the_key_by_the_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.delenv("CLOVERLAB_KEY", raising=False)
    assert key_of(8080) == "" and authorization("") == {}
    data = tmp_path / "data"
    data.mkdir()
    plane = ControlPlane.here(8080, data, "mams")
    record(plane)
    assert key_of(8080) == "", "no key yet"
    assert key_of(8080) != key_in(data) == key_of(8080)
    assert os.stat(running_file(8080)).st_mode & 0o777 == 0o600
    forget(plane)
    assert key_of(8080) == ""
    monkeypatch.setenv("CLOVERLAB_KEY", KEY)
    assert key_of(8080) == KEY


def test_a_person_without_a_home_starts_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setattr(Path, "home", lambda: blocked)
    with registered(ControlPlane.here(8080, tmp_path, "mams")):
        assert key_of(8080) == os.environ.get("CLOVERLAB_KEY", "")
