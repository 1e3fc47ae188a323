"""`/api/fs`: the file system through an ordinary client."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import StreamingResponse

from backend.dependencies import TheLab
from backend.fs import blocks, content, fsck, service
from backend.fs.models import PATH_CHARACTERS, CheckedOut, Directory, FileBlocks, FsAnswer, FsRequest, Written
from nodes.metadata.operations import BLOCK_SIZE, BLOCK_SIZE_MAX, CHUNK_BYTES

Path = Annotated[str, Query(max_length=PATH_CHARACTERS)]
router = APIRouter(prefix="/api", tags=["file system"])


@router.post("/fs", response_model=FsAnswer)
async def call(request: FsRequest, lab: TheLab) -> dict[str, Any]:
    """One operation; 504 with ETIMEDOUT means that its outcome is unknown."""
    return await service.call(lab, request)


@router.put("/fs/content", response_model=Written)
async def put(
    path: Path,
    request: Request,
    lab: TheLab,
    block_size: Annotated[int, Query(ge=CHUNK_BYTES, le=BLOCK_SIZE_MAX)] = BLOCK_SIZE,
) -> Written:
    """Creates a file from the body, which is streamed, in blocks of this size: a multiple of 512."""
    return Written(size=await content.put(lab, path, request.stream(), block_size))


@router.post("/fs/content", response_model=Written)
async def append(path: Path, request: Request, lab: TheLab, force: bool = False) -> Written:
    """Appends the body to a file; with `force` also while another client holds the file."""
    return Written(size=await content.append(lab, path, request.stream(), force))


@router.get(
    "/fs/content",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/byte-stream": {}}}},
)
async def get(
    path: Path, lab: TheLab, start: Annotated[int, Query(ge=0, le=1 << 60)] = 0
) -> StreamingResponse:
    """The content of a file from byte `start` on. The connection breaks when no data node has the rest of it."""
    return StreamingResponse(await content.get(lab, path, start), media_type="application/byte-stream")


@router.get("/fs/blocks", response_model=FileBlocks)
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
    """The names of a directory after `after`, with their objects."""
    return await service.directory(lab, path, after, limit)


@router.get("/fs/check", response_model=CheckedOut)
async def check(lab: TheLab) -> dict[str, Any]:
    """Compares the namespaces of all groups: orphan inodes, dangling dentries, wrong counts of names (fsck)."""
    return await fsck.check(lab)
