"""`/api/checkpoints/NAME/export` and `/api/checkpoints/import`: backups outside of the cluster."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.responses import StreamingResponse

from backend.backup import service
from backend.backup.models import Imported
from backend.dependencies import TheLab
from backend.fs.models import PATH_CHARACTERS

router = APIRouter(prefix="/api/checkpoints", tags=["checkpoints"])


@router.get(
    "/{name:path}/export",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/byte-stream": {}}}},
)
async def export_checkpoint(name: str, lab: TheLab) -> StreamingResponse:
    """A backup of a complete checkpoint: every directory and file as at its barrier. A stream that fails says why in its last record."""
    return StreamingResponse(await service.export(lab, name), media_type="application/byte-stream")


@router.post("/import", response_model=Imported)
async def import_backup(
    request: Request,
    lab: TheLab,
    into: Annotated[str, Query(max_length=PATH_CHARACTERS)] = "/",
    size: Annotated[int, Query(ge=0, le=1 << 60)] = 0,
    again: bool = False,
) -> dict[str, Any]:
    """Creates the tree of a backup, the body, in a directory that is empty or does not exist; 409 when it has entries.

    `size` is the number of bytes of content: with any, a cluster without data nodes refuses the backup at once. After a later error, what was
    created stays. `again` goes on behind it: whole objects stay, and half a file is made anew.
    """
    return msgspec.structs.asdict(await service.restore(lab, request.stream(), into, size, again))
