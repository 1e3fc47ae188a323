"""`/api/conditions`: conditions on the state of the cluster, and whether one holds."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from backend.conditions import service
from backend.conditions.models import ConditionNow, UntilChoices
from backend.dependencies import TheLab

CONDITION_CHARACTERS = 120
router = APIRouter(prefix="/api", tags=["clock"])


@router.get("/conditions", response_model=UntilChoices)
async def read_until_choices(lab: TheLab) -> dict[str, Any]:
    """Conditions and kinds of events that this cluster can go on until; others of the same forms are accepted, too."""
    return service.choices(lab.fabric)


@router.get("/conditions/now", response_model=ConditionNow)
async def read_condition(
    lab: TheLab, text: Annotated[str, Query(max_length=CONDITION_CHARACTERS)]
) -> dict[str, Any]:
    """Whether a condition on the state holds, as `./cloverlab wait` evaluates it."""
    return {"holds": service.holds(lab.fabric, text), "at_ns": lab.fabric.now_ns}
