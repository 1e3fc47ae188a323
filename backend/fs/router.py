"""`/api/fs`: the file system as any client sees it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from backend.depends import TheLab
from backend.fs import service
from backend.fs.models import FsAnswer, FsRequest

router = APIRouter(prefix="/api", tags=["file system"])


@router.post("/fs", response_model=FsAnswer)
async def call(request: FsRequest, lab: TheLab) -> dict[str, Any]:
    """One operation; 504 with ETIMEDOUT says that its outcome is unknown."""
    return await service.call(lab, request)
