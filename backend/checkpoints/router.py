"""`/api/checkpoints`: global state recovery (CFS §4.3)."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from backend.checkpoints import service
from backend.checkpoints.models import (
    CheckpointOut,
    Checkpoints,
    MarkRequest,
    Recovering,
    RecoverRequest,
    SetAside,
)
from backend.depends import TheLab

router = APIRouter(prefix="/api/checkpoints", tags=["checkpoints"])


@router.get("", response_model=Checkpoints)
async def list_checkpoints(lab: TheLab) -> dict[str, Any]:
    """Those whose outcome is decided, oldest first."""
    return await service.listed(lab)


@router.post("", response_model=CheckpointOut)
async def mark_checkpoint(request: MarkRequest, lab: TheLab) -> dict[str, Any]:
    """Marks the state of all groups; 409 when the name is taken or the checkpoint became void."""
    return await service.mark(lab, request.name)


@router.get("/{name}/behind", response_model=SetAside)
async def read_behind(name: str, lab: TheLab) -> dict[str, Any]:
    """What a recovery to this checkpoint would set aside."""
    return await service.behind(lab, name)


@router.post("/recover", response_model=Recovering)
async def recover(request: RecoverRequest, lab: TheLab) -> dict[str, Any]:
    """Takes the whole cluster back; 409 unless it is confirmed."""
    return await service.recover(lab, request.name, request.confirmed)
