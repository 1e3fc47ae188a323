"""`/api/fs`: the file system as any client sees it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from backend.depends import TheLab
from backend.fs import service
from backend.fs.models import PATH_CHARACTERS, Directory, FsAnswer, FsRequest

router = APIRouter(prefix="/api", tags=["file system"])


@router.post("/fs", response_model=FsAnswer)
async def call(request: FsRequest, lab: TheLab) -> dict[str, Any]:
    """One operation; 504 with ETIMEDOUT says that its outcome is unknown."""
    return await service.call(lab, request)


@router.get("/fs/list", response_model=Directory)
async def read_directory(
    lab: TheLab,
    path: Annotated[str, Query(max_length=PATH_CHARACTERS)],
    after: Annotated[str, Query(max_length=PATH_CHARACTERS)] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> dict[str, Any]:
    """The names of a directory behind `after`, with what they lead to."""
    return await service.directory(lab, path, after, limit)
