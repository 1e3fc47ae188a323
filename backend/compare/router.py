"""`/api/compare`: the same workload and faults on two to four configurations, side by side."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter

from backend.compare import service
from backend.compare.models import Choices, CompareRequest, ComparisonOut
from backend.depends import TheLab

router = APIRouter(prefix="/api/compare", tags=["compare"])


@router.get("/choices", response_model=Choices)
def read_choices() -> dict[str, Any]:
    """What can be compared. In a thread, for it reads files."""
    return service.choices()


@router.post("", response_model=ComparisonOut)
async def begin_comparison(request: CompareRequest, lab: TheLab) -> Any:
    """Begins; 409 while another one is under way."""
    changes = [each.model_dump(exclude_none=True) for each in request.configurations]
    return msgspec.to_builtins(lab.comparisons.begin(request.scenario, request.seed, changes))


@router.get("/{number}", response_model=ComparisonOut)
async def read_comparison(number: int, lab: TheLab) -> Any:
    """How far it has come, and what was measured."""
    return msgspec.to_builtins(lab.comparisons.read(number))


@router.delete("/{number}", response_model=ComparisonOut)
async def cancel_comparison(number: int, lab: TheLab) -> Any:
    """Ends it; what was measured stays."""
    return msgspec.to_builtins(await lab.comparisons.cancel(number))
