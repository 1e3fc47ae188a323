"""The control plane as a web application: routes, the guard, errors, the page."""

from __future__ import annotations

import re
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response

from backend import api_page, metrics, probes
from backend.access import Access
from backend.attempts.router import router as attempts
from backend.backup.router import router as backup
from backend.checkpoints.router import router as checkpoints
from backend.classes.router import router as classes
from backend.classes.service import Classes
from backend.clock.router import router as clock
from backend.clusters.models import ErrorLine
from backend.clusters.router import router as clusters
from backend.compare.router import router as compare
from backend.conditions.router import router as conditions
from backend.coordination.router import router as coordination
from backend.errors import LabError, file_system_status
from backend.events.router import router as events
from backend.events.stream import router as stream
from backend.faults.router import router as faults
from backend.fleet.fleet import Fleet
from backend.fleet.prefix import ClusterPrefix
from backend.fleet.router import router as fleets
from backend.fs.router import router as fs
from backend.gate import Gate
from backend.handover.router import router as handover
from backend.headers import Headers
from backend.key import key_in
from backend.labs.router import router as labs
from backend.page_files import answer
from backend.papers.router import router as papers
from backend.papers.service import PaperClusters
from backend.played_failures.router import router as played_failures
from backend.pool.router import router as pool
from backend.removal.router import router as removal
from backend.run_files.router import router as run_files
from backend.scenario_runs.router import router as scenarios
from backend.searches.router import router as searches
from nodes.errors import FsError

PAGES = frozenset(
    {
        "",
        "namespace",
        "storage-pool",
        "checkpoints",
        "coordination",
        "scenarios",
        "compare",
        "explore",
        "labs",
        "papers",
        "class",
    }
)
"""Addresses that the page gives its parts (frontend/src/store/url.ts)."""
PART = re.compile(
    r"^(labs/[a-z][a-z0-9-]{0,39}|scenarios/[a-z][a-z0-9-]{0,39}/[a-z][a-z0-9-]{0,79}|papers/[a-z][a-z0-9-]{0,39}/[a-z][a-z0-9.-]{0,39})$"
)
"""The address of a lab, a scenario, a mechanism or an experiment on the page."""
ERRORS = {status: {"model": ErrorLine} for status in (403, 404, 409, 413, 422, 503)}
ROUTERS = (
    attempts, backup, checkpoints, classes, clock, clusters, compare, conditions, coordination, faults, events, fleets, fs, handover, labs, papers,
    pool, removal, run_files, scenarios, searches, played_failures, stream,
    metrics.router, probes.router, api_page.router,
)  # fmt: skip


def routes() -> FastAPI:
    """The application without a cluster: enough for its schema."""
    app = FastAPI(
        title="Cloverlab", version="1", responses=ERRORS,  # type: ignore[arg-type]
        docs_url=None, redoc_url=None, openapi_url="/api/openapi.json",
        generate_unique_id_function=lambda route: route.name,
    )  # fmt: skip
    for router in ROUTERS:
        app.include_router(router)
    return app


def create_app(fleet: Fleet, class_service: Classes | None = None) -> FastAPI:
    """Raises CannotStart when the key of the API, or the class, cannot be read or made."""
    app = routes()
    lab, app.state.fleet = fleet.main, fleet
    app.state.classes = class_service or Classes(fleet)
    app.state.attempts = app.state.classes.attempts
    app.state.paper_clusters = PaperClusters(fleet)
    reach = lab.settings.reach
    app.add_exception_handler(LabError, lab_error)
    app.add_exception_handler(FsError, fs_error)
    app.add_exception_handler(RequestValidationError, malformed)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(Exception, bug)
    serve_page(app, lab.settings.page)
    app.add_middleware(Access, key=key_in(lab.home.path), classes=app.state.classes, reach=reach)
    app.add_middleware(Gate, reach=reach)
    app.add_middleware(Headers)
    app.add_middleware(ClusterPrefix, fleet=fleet)
    return app


def line(message: str, status: int) -> JSONResponse:
    return JSONResponse({"error": " ".join(message.split())}, status_code=status)


async def lab_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, LabError)
    return line(error.message, error.status)


async def fs_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, FsError)
    return line(f"{error.name}: {error.message}", file_system_status(error.name))


async def malformed(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:])
    return line(f"{where or 'body'}: {first['msg']}", 422)


async def http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return line(f"no page or route at {request.url.path[:200]}", 404)
    return line(str(error.detail), error.status_code)


async def bug(request: Request, error: Exception) -> Response:
    """Logs the traceback to the control plane's own output."""
    return line(f"a bug in the control plane: {type(error).__name__} at {request.url.path[:80]}", 500)


def serve_page(app: FastAPI, page: Path) -> None:
    """Serves the files of the built page, and the page itself at the address of each of its parts."""
    root = page.resolve()

    @app.get("/{path:path}", include_in_schema=False)
    async def read_page(request: Request, path: str) -> Response:
        if path in PAGES or PART.match(path):
            return index(request, root / "index.html")
        file = file_at(root, path)
        if file is None:
            raise HTTPException(404)
        return answer(request, file, forever=path.startswith("assets/"))


def index(request: Request, file: Path) -> Response:
    if file.is_file():
        return answer(request, file, forever=False)
    return PlainTextResponse("The page is not built; ./cloverlab up builds it. The API is at /api/cluster.\n")


def file_at(root: Path, path: str) -> Path | None:
    """The file of the page at a path of an address; None for anything else, also for names that no file can have."""
    try:
        file = (root / path).resolve()
        return file if file.is_file() and file.is_relative_to(root) else None
    except (OSError, ValueError):
        return None


if __name__ == "__main__":
    """Writes docs/api.md to standard output."""
    print(api_page.markdown(routes().openapi()), end="")
