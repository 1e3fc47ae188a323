"""`/api/scenarios` and `/api/scenario-runs`: the shipped scenarios, the check of a text as one, and runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Depends
from pydantic import RootModel
from starlette.requests import HTTPConnection
from starlette.responses import Response

from backend.errors import Impossible
from backend.scenario_runs import catalogue, plan
from backend.scenario_runs.models import (
    PageRunOut,
    ScenarioCheckOut,
    ScenarioFileOut,
    ScenarioOutcomeOut,
    ScenarioRowOut,
    ScenarioRunRequest,
    ScenarioRunRowOut,
    ScenarioText,
)
from backend.scenario_runs.service import RunWish, ScenarioRunRow, ScenarioRuns
from backend.scenarios import report
from backend.scenarios.schema import schema

router = APIRouter(prefix="/api", tags=["scenarios"])


def the_runs(connection: HTTPConnection) -> ScenarioRuns:
    runs: ScenarioRuns = connection.app.state.fleet.main.scenario_runs
    return runs


TheRuns = Annotated[ScenarioRuns, Depends(the_runs)]


class ScenarioSchema(RootModel[dict[str, Any]]):
    """A JSON Schema."""


@router.get("/scenarios", response_model=list[ScenarioRowOut])  # type: ignore[valid-type]
def read_scenarios() -> Any:
    """Every shipped scenario, with what it teaches and where it can run. It runs in a thread, because it reads files."""
    return msgspec.to_builtins(catalogue.rows())


@router.get("/scenarios/{folder}/{name}", response_model=ScenarioFileOut)
def read_scenario(folder: str, name: str) -> Any:
    """The text of a shipped scenario, its steps, and the families and fabrics that can run it."""
    return msgspec.to_builtins(catalogue.file_named(f"{folder}/{name}"))


@router.get("/scenarios/schema", response_model=ScenarioSchema)
def read_schema() -> dict[str, Any]:
    """The JSON Schema of scenario files."""
    found: dict[str, Any] = msgspec.json.decode(schema())
    return found


@router.post("/scenarios/check", response_model=ScenarioCheckOut)
def check_scenario(request: ScenarioText) -> Any:
    """Reads a text as a scenario: its plan, or the first error with its line. It runs in a thread. 413 for a text that is too large."""
    return msgspec.to_builtins(plan.checked(request.text))


@router.post("/scenario-runs", response_model=PageRunOut)
async def begin_scenario_run(request: ScenarioRunRequest, runs: TheRuns) -> Any:
    """Runs a text as a scenario, in a process of its own, on the simulator or on a cluster of processes that is started for it. 409 while two others
    run on the simulator, or one on processes."""
    return msgspec.to_builtins(await runs.begin(RunWish(**request.model_dump())))


@router.get("/scenario-runs", response_model=list[ScenarioRunRowOut])  # type: ignore[valid-type]
async def read_scenario_runs(runs: TheRuns) -> Any:
    """The newest eight runs, the newest first, without their texts, steps and outcomes."""
    names = ScenarioRunRow.__struct_fields__
    return [{name: getattr(run, name) for name in names} for run in runs.all()]


@router.get("/scenario-runs/{number}", response_model=PageRunOut)
async def read_scenario_run(number: int, runs: TheRuns) -> Any:
    """The steps so far, and at the end the outcome. The newest eight runs are kept."""
    return msgspec.to_builtins(runs.read(number))


@router.delete("/scenario-runs/{number}", response_model=PageRunOut)
async def cancel_scenario_run(number: int, runs: TheRuns) -> Any:
    """Ends a run that is under way, and its processes."""
    return msgspec.to_builtins(await runs.cancel(number))


@router.get(
    "/scenario-runs/{number}/report",
    responses={200: {"model": ScenarioOutcomeOut, "content": {"text/html": {}}}},
)
async def read_scenario_report(
    number: int, runs: TheRuns, format: Literal["json", "html"] = "json"
) -> Response:
    """The report of a run that is over, as `run --report` writes it: JSON, or one self-contained page."""
    outcome = runs.read(number).outcome
    if outcome is None:
        raise Impossible(f"run {number} has no result")
    data = report.as_json([outcome]) if format == "json" else report.page([outcome]).encode()
    kind = "application/json" if format == "json" else "text/html; charset=utf-8"
    disposition = f'attachment; filename="scenario-{number}.{format}"'
    return Response(data, media_type=kind, headers={"Content-Disposition": disposition})
