"""Who may use the control plane through a browser, and what a browser may do with the page."""

from pathlib import Path

import httpx
import pytest
from starlette.types import Scope

from backend.errors import Forbidden
from backend.gate import check_origin
from backend.lab import Lab
from tests.unit.backend.test_api import one_line, with_api


def scope(path: str = "/api/cluster", kind: str = "http", **headers: str) -> Scope:
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": kind, "method": "GET", "path": path, "headers": named}


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1", "http://127.0.0.1"),
        ("127.0.0.1:80", "http://localhost"),
        ("LOCALHOST:8080", "http://localhost:8080"),
        ("localhost:8080", "HTTP://LocalHost:8080"),
        ("[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_a_page_of_this_server_is_let_in(host: str, origin: str) -> None:
    check_origin(scope(host=host, origin=origin))


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1:8080", "https://127.0.0.1:8080"),
        ("127.0.0.1:8080", "http://127.0.0.1"),
        ("127.0.0.1", "http://127.0.0.1:8080"),
        ("127.0.0.1:8080", "http://user@127.0.0.1:8080"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080/"),
        ("127.0.0.1:8080", "127.0.0.1:8080"),
        ("127.0.0.1:8080", ""),
        ("127.0.0.1:8080\n", "http://127.0.0.1:8080"),
        ("evil.example:8080", "http://evil.example:8080"),
    ],
)
def test_any_other_page_is_refused(host: str, origin: str) -> None:
    with pytest.raises(Forbidden):
        check_origin(scope(host=host, origin=origin))


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize(
    ("path", "kind", "mode"),
    [
        ("/api/runs/1/timeline", "http", "no-cors"),
        ("/api/cluster", "http", "navigate"),
        ("/assets/a.js", "http", "no-cors"),
        ("/api/stream", "websocket", "websocket"),
    ],
)
def test_a_request_without_an_origin_that_another_site_caused_is_refused(
    site: str, path: str, kind: str, mode: str
) -> None:
    headers = {"host": "127.0.0.1:8080", "sec_fetch_site": site, "sec_fetch_mode": mode}
    with pytest.raises(Forbidden, match="another site"):
        check_origin(scope(path, kind, **headers))


def test_a_person_may_follow_a_link_of_another_site_to_the_page() -> None:
    headers = {"host": "127.0.0.1:8080", "sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
    check_origin(scope("/namespace", **headers))
    check_origin(scope(host="127.0.0.1:8080", sec_fetch_site="same-origin", sec_fetch_mode="cors"))


def test_every_response_says_who_may_show_it_and_what_it_may_load(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        found = [await client.get(path) for path in ("/", "/api/cluster", "/nothing", "/assets/a.js")]
        refused = await client.get("/api/cluster", headers={"Origin": "http://evil.example"})
        assert refused.status_code == 403 and one_line(refused)
        for response in (*found, refused):
            policy = response.headers["content-security-policy"].split("; ")
            assert {"default-src 'self'", "frame-ancestors 'none'"} <= set(policy)
            assert not any(part.startswith("script-src") for part in policy)
            assert response.headers["x-content-type-options"] == "nosniff"
            assert response.headers["cross-origin-resource-policy"] == "same-origin"

    with_api(tmp_path, ask)
