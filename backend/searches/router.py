"""`/api/explore`: a random search for broken promises, at low priority beside the cluster."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends
from starlette.requests import HTTPConnection
from starlette.responses import Response

from backend.explore import scenario_writer
from backend.searches import scores, wish
from backend.searches.models import BugScoreOut, FailureOut, SearchChoices, SearchOut, SearchRequest, view_of
from backend.searches.schedule import schedule_of
from backend.searches.service import Searches

router = APIRouter(prefix="/api/explore", tags=["explore"])


def the_searches(connection: HTTPConnection) -> Searches:
    searches: Searches = connection.app.state.fleet.main.searches
    return searches


TheSearches = Annotated[Searches, Depends(the_searches)]


@router.get("/choices", response_model=SearchChoices)
def read_search_choices() -> dict[str, Any]:
    """Families, and the bugs that can be switched on."""
    return wish.choices()


@router.get("/scores", response_model=dict[str, BugScoreOut])  # type: ignore[valid-type]
def read_scores() -> Any:
    """Of each known bug that was measured on this machine, its last search by `bench explore bugs`. It runs in a thread, because it reads a file."""
    return msgspec.to_builtins(scores.scores())


@router.get("", response_model=SearchOut)
async def read_search(searches: TheSearches) -> dict[str, Any]:
    """The search that runs, or the newest one."""
    return view_of(searches.newest)


@router.post("", response_model=SearchOut)
async def begin_search(request: SearchRequest, searches: TheSearches) -> dict[str, Any]:
    """Begins a search; 409 while one runs. The findings of the one before are forgotten."""
    return view_of(searches.begin(wish.SearchWish(**request.model_dump())))


@router.delete("", response_model=SearchOut)
async def stop_search(searches: TheSearches) -> dict[str, Any]:
    """Ends the search and the shrinking of a failure; their findings stay."""
    return view_of(await searches.stop())


@router.post("/failures/{number}/shrink", response_model=SearchOut)
async def shrink_failure(number: int, searches: TheSearches) -> dict[str, Any]:
    """Begins to reduce the smallest plan of a failure until nothing more can be removed, for a minute at most."""
    return view_of(searches.shrink(number))


@router.get("/failures/{number}", response_model=FailureOut)
def read_failure(number: int, searches: TheSearches) -> dict[str, Any]:
    """The smallest schedule of a failure. It runs in a thread, because it writes a whole scenario file."""
    outcome = searches.failure(number).outcome
    file = scenario_writer.file_name(scenario_writer.words_of(outcome))
    return {
        "number": number,
        "seed": outcome.plan.seed,
        "explanation": outcome.failures[0].explanation,
        "schedule": msgspec.to_builtins(schedule_of(outcome.plan)),
        "story": outcome.failures[0].story,
        "file": file,
        "yaml": scenario_writer.text_of(outcome),
        "command": f"./cloverlab run {file}",
    }


@router.get(
    "/failures/{number}/file",
    response_class=Response,
    responses={200: {"content": {"application/byte-stream": {}}}},
)
def read_failure_file(number: int, searches: TheSearches) -> Response:
    """The schedule as a scenario file."""
    outcome = searches.failure(number).outcome
    name = scenario_writer.file_name(scenario_writer.words_of(outcome))
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(scenario_writer.text_of(outcome), media_type="application/yaml", headers=headers)
