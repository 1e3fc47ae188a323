"""`/api/conditions`: conditions on the state of the cluster, and whether one holds."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from backend.conditions import service
from backend.conditions.models import ConditionNow, UntilChoice
from backend.dependencies import TheLab

CONDITION_CHARACTERS = 120
router = APIRouter(prefix="/api", tags=["clock"])


@router.get("/conditions", response_model=list[UntilChoice])
async def read_until_choices(lab: TheLab) -> list[dict[str, str]]:
    """Conditions and, of a simulated cluster, kinds of events that it can go on until. Others of these forms are accepted, too."""
    return service.choices(lab.fabric)


@router.get("/conditions/now", response_model=ConditionNow)
async def read_condition(
    lab: TheLab, text: Annotated[str, Query(max_length=CONDITION_CHARACTERS)]
) -> dict[str, Any]:
    """Whether a condition on the state holds, as the command `wait` evaluates it."""
    return {"holds": service.holds(lab.fabric, text), "at_ns": lab.fabric.now_ns}
