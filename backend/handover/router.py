"""`/api/groups/GROUP/handover`: a planned handover."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from backend.dependencies import TheLab
from backend.handover import service
from backend.handover.models import HandoverDone, HandoverRequest

router = APIRouter(prefix="/api", tags=["cluster"])


@router.post("/groups/{group}/handover", response_model=HandoverDone)
async def hand_over(group: str, request: HandoverRequest, lab: TheLab) -> dict[str, Any]:
    """Hands the active role of a group over to a standby in order; calls wait meanwhile. 409 when the active goes on, with the reason."""
    return await service.hand_over(lab, group, request.server)
