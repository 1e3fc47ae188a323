"""`/api/checkpoints`: global state recovery (CFS §4.3)."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from backend.checkpoints import service
from backend.checkpoints.models import (
    CheckpointOut,
    Checkpoints,
    Deleted,
    MarkRequest,
    Recovering,
    RecoverRequest,
    SetAside,
    Story,
)
from backend.depends import TheLab

router = APIRouter(prefix="/api/checkpoints", tags=["checkpoints"])


@router.get("", response_model=Checkpoints)
async def list_checkpoints(lab: TheLab) -> dict[str, Any]:
    """Those whose outcome is decided, oldest first."""
    return await service.listed(lab)


@router.get("/story", response_model=Story)
async def read_story(lab: TheLab) -> dict[str, Any]:
    """How each marking went, step by step and group by group, and what every server set aside in each recovery."""
    return await service.told(lab)


@router.post("", response_model=CheckpointOut)
async def mark_checkpoint(request: MarkRequest, lab: TheLab) -> dict[str, Any]:
    """Marks the state of all groups; 409 when the name is taken or the checkpoint became void."""
    return await service.mark(lab, request.name)


@router.get("/behind", response_model=list[SetAside])
async def read_all_behind(lab: TheLab) -> list[dict[str, Any]]:
    """What came after each complete checkpoint, the newest first; cheap to ask again."""
    return await service.all_behind(lab)


@router.get("/{name:path}/behind", response_model=SetAside)
async def read_behind(name: str, lab: TheLab) -> dict[str, Any]:
    """What a recovery to this checkpoint would set aside."""
    return await service.behind(lab, name)


@router.delete("/{name:path}", response_model=Deleted)
async def delete_checkpoint(name: str, lab: TheLab) -> dict[str, Any]:
    """Forgets a checkpoint; 409 when there is none of this name, or the cluster is going back to it."""
    return await service.delete(lab, name)


@router.post("/recover", response_model=Recovering)
async def recover(request: RecoverRequest, lab: TheLab) -> dict[str, Any]:
    """Takes the whole cluster back; 409 unless it is confirmed."""
    return await service.recover(lab, request.name, request.confirmed)
