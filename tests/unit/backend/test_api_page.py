"""The reference of the API is what the API is."""

from pathlib import Path

import httpx

from backend.api_page import markdown, operations
from backend.app import routes
from backend.lab import Lab
from tests.unit.backend.test_api import with_api

PAGE = Path(__file__).resolve().parents[3] / "docs" / "api.md"


def test_the_written_page_is_current() -> None:
    """`python -m backend.app > docs/api.md` writes it."""
    assert PAGE.read_text() == markdown(routes().openapi())


def test_the_page_lists_every_operation_and_loads_nothing(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        page = await client.get("/api/docs")
        assert page.status_code == 200 and "<script" not in page.text and "http" not in page.text
        found = operations((await client.get("/api/openapi.json")).json())
        assert len(found) > 25
        for operation in found:
            assert f"<code>{operation.method} {operation.path}</code>" in page.text

    with_api(tmp_path, ask)


def test_an_operation_has_its_parameters_and_its_body() -> None:
    found = {(each.method, each.path): each for each in operations(routes().openapi())}
    fault = found["POST", "/api/faults"]
    assert [str(each) for each in fault.body][:2] == ["verb: string", "[targets: list of string]"]
    journal = found["GET", "/api/runs/{run}/journal"]
    assert {"run: integer", "from_sn: integer", "to_sn: integer", "[at_ns: integer]"} <= set(
        map(str, journal.parameters)
    )
