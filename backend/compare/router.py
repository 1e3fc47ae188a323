"""`/api/compare`: the same workload and faults on two to four configurations, side by side."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends
from starlette.requests import HTTPConnection

from backend.compare import service
from backend.compare.models import Choices, CompareRequest, ComparisonOut

router = APIRouter(prefix="/api/compare", tags=["compare"])


def the_comparisons(connection: HTTPConnection) -> service.Comparisons:
    comparisons: service.Comparisons = connection.app.state.fleet.main.comparisons
    return comparisons


TheComparisons = Annotated[service.Comparisons, Depends(the_comparisons)]


@router.get("/choices", response_model=Choices)
def read_choices() -> dict[str, Any]:
    """Scenarios, families and mechanisms that can be compared. It runs in a thread, because it reads files."""
    return service.choices()


@router.post("", response_model=ComparisonOut)
async def begin_comparison(request: CompareRequest, comparisons: TheComparisons) -> Any:
    """Begins a comparison; 409 while another one is under way."""
    changes = [each.model_dump(exclude_none=True) for each in request.configurations]
    return msgspec.to_builtins(comparisons.begin(request.scenario, request.seed, changes))


@router.get("/{number}", response_model=ComparisonOut)
async def read_comparison(number: int, comparisons: TheComparisons) -> Any:
    """Progress of a comparison, and the results so far."""
    return msgspec.to_builtins(comparisons.read(number))


@router.delete("/{number}", response_model=ComparisonOut)
async def cancel_comparison(number: int, comparisons: TheComparisons) -> Any:
    """Ends a comparison; its results stay."""
    return msgspec.to_builtins(await comparisons.cancel(number))
