"""How files of the page travel: compressed, and only once."""

from pathlib import Path

import httpx
import pytest

from backend.lab import Lab
from tests.unit.backend.test_api import with_api

SCRIPT = "const one = 1;\n" * 1000


def test_large_texts_travel_compressed_to_those_who_accept_it(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        (tmp_path / "dist" / "assets" / "a-1f.js").write_text(SCRIPT)
        small = await client.get("/assets/a-1f.js", headers={"Accept-Encoding": "br, gzip;q=0.8"})
        assert small.headers["content-encoding"] == "gzip" and small.text == SCRIPT
        assert int(small.headers["content-length"]) < len(SCRIPT) / 10
        assert small.headers["cache-control"] == "max-age=31536000, immutable"
        assert "javascript" in small.headers["content-type"]
        for encoding in ("identity", "gzip;q=0"):
            plain = await client.get("/assets/a-1f.js", headers={"Accept-Encoding": encoding})
            assert "content-encoding" not in plain.headers and plain.text == SCRIPT
            assert plain.headers["vary"] == "Accept-Encoding"

    with_api(tmp_path, ask)


@pytest.mark.parametrize("path", ["/", "/namespace", "/assets/a.js"])
def test_a_browser_that_has_a_file_gets_no_content(tmp_path: Path, path: str) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        first = await client.get(path)
        known = {"If-None-Match": f'"other", W/{first.headers["etag"]}'}
        again = await client.get(path, headers=known)
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]

    with_api(tmp_path, ask)


def test_a_page_that_was_built_again_is_read_again(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        first = await client.get("/")
        assert first.headers["cache-control"] == "no-cache"
        (tmp_path / "dist" / "index.html").write_text("<title>newer page</title>")
        newer = await client.get("/", headers={"If-None-Match": first.headers["etag"]})
        assert newer.status_code == 200 and "newer" in newer.text

    with_api(tmp_path, ask)
