"""`/api/checkpoints`: global state recovery (CFS §4.3)."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.requests import HTTPConnection

from backend.checkpoints import service
from backend.checkpoints.models import (
    Behind,
    CheckpointOut,
    Checkpoints,
    Deleted,
    MarkRequest,
    Recovering,
    RecoverRequest,
    StoryOut,
)
from backend.checkpoints.operation_counts import Counting
from backend.dependencies import TheLab, the_whole

router = APIRouter(prefix="/api/checkpoints", tags=["checkpoints"])


def the_counting(connection: HTTPConnection) -> Counting:
    counting: Counting = the_whole(connection).counting
    return counting


@router.get("", response_model=Checkpoints)
async def list_checkpoints(lab: TheLab) -> dict[str, Any]:
    """Checkpoints with a decided outcome, oldest first."""
    return await service.listed(lab)


@router.get("/story", response_model=StoryOut)
async def read_story(lab: TheLab) -> dict[str, Any]:
    """The history of each marking, step by step and group by group, and what every server quarantined in each recovery."""
    return await service.reported(lab)


@router.post("", response_model=CheckpointOut)
async def mark_checkpoint(request: MarkRequest, lab: TheLab) -> dict[str, Any]:
    """Marks the state of all groups; 409 when the name exists or the checkpoint became void."""
    return await service.mark(lab, request.name)


@router.get("/behind", response_model=list[Behind])
async def read_all_behind(
    lab: TheLab, counting: Annotated[Counting, Depends(the_counting)]
) -> list[dict[str, Any]]:
    """Operations after each complete checkpoint, the newest first; cheap to repeat."""
    return await service.all_behind(lab, counting)


@router.get("/{name:path}/behind", response_model=Behind)
async def read_behind(name: str, lab: TheLab) -> dict[str, Any]:
    """Operations that a recovery to this checkpoint would quarantine."""
    return await service.behind(lab, name)


@router.delete("/{name:path}", response_model=Deleted)
async def delete_checkpoint(name: str, lab: TheLab) -> dict[str, Any]:
    """Deletes a checkpoint; 409 when the name is unknown, or the cluster is rolling back to it."""
    return await service.delete(lab, name)


@router.post("/recover", response_model=Recovering)
async def recover(request: RecoverRequest, lab: TheLab) -> dict[str, Any]:
    """Rolls the whole cluster back; 409 unless the request confirms it."""
    return await service.recover(lab, request.name, request.confirmed)
