"""`/api/fs`: the file system as any client sees it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import StreamingResponse

from backend.depends import TheLab
from backend.fs import blocks, content, service
from backend.fs.models import PATH_CHARACTERS, Blocks, Directory, FsAnswer, FsRequest, Written
from nodes.metadata.operations import BLOCK_SIZE, BLOCK_SIZE_MAX, CHUNK_OCTETS

Path = Annotated[str, Query(max_length=PATH_CHARACTERS)]
router = APIRouter(prefix="/api", tags=["file system"])


@router.post("/fs", response_model=FsAnswer)
async def call(request: FsRequest, lab: TheLab) -> dict[str, Any]:
    """One operation; 504 with ETIMEDOUT says that its outcome is unknown."""
    return await service.call(lab, request)


@router.put("/fs/content", response_model=Written)
async def put(
    path: Path,
    request: Request,
    lab: TheLab,
    block_size: Annotated[int, Query(ge=CHUNK_OCTETS, le=BLOCK_SIZE_MAX)] = BLOCK_SIZE,
) -> Written:
    """Makes a file of the body, which is passed on as it comes, in blocks of this size: a multiple of 512."""
    return Written(octets=await content.put(lab, path, request.stream(), block_size))


@router.post("/fs/content", response_model=Written)
async def append(path: Path, request: Request, lab: TheLab, force: bool = False) -> Written:
    """Writes the body behind a file's end; with `force` though another client holds the file."""
    return Written(octets=await content.append(lab, path, request.stream(), force))


@router.get(
    "/fs/content",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/octet-stream": {}}}},
)
async def get(path: Path, lab: TheLab) -> StreamingResponse:
    """What a file holds. The connection breaks when no data node gives the rest of it."""
    return StreamingResponse(await content.get(lab, path), media_type="application/octet-stream")


@router.get("/fs/blocks", response_model=Blocks)
async def read_blocks(
    path: Path,
    lab: TheLab,
    first: Annotated[int, Query(ge=0, le=1 << 40)] = 0,
    limit: Annotated[int, Query(ge=1, le=256)] = 64,
) -> dict[str, Any]:
    """The blocks of a file from position `first` on, and which data nodes have them."""
    return await blocks.blocks(lab, path, first, limit)


@router.get("/fs/list", response_model=Directory)
async def read_directory(
    lab: TheLab,
    path: Annotated[str, Query(max_length=PATH_CHARACTERS)],
    after: Annotated[str, Query(max_length=PATH_CHARACTERS)] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> dict[str, Any]:
    """The names of a directory behind `after`, with what they lead to."""
    return await service.directory(lab, path, after, limit)
