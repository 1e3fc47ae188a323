"""`/api/runs/RUN/export` and `/api/runs/import`: a run as one file. `/api/runs/RUN`: its removal."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import StreamingResponse

from backend.dependencies import TheLab
from backend.events.models import Run
from backend.events.router import RunNumber
from backend.run_files import service

router = APIRouter(prefix="/api/runs", tags=["events"])


@router.get(
    "/{run}/export",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/byte-stream": {}}}},
)
async def export_run(run: RunNumber, lab: TheLab) -> StreamingResponse:
    """All that is kept of a run, as one file: a gzip stream of JSON lines. A file without its last line is not whole."""
    name, parts = await service.export(lab, run)
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(parts, media_type="application/byte-stream", headers=disposition)


@router.post("/import", response_model=Run)
async def import_run(request: Request, lab: TheLab) -> dict[str, Any]:
    """Stores the file of a run, the body, as a further past run, whole or not at all."""
    found: dict[str, Any] = msgspec.to_builtins(await service.restore(lab, request.stream()))
    return found


@router.delete("/{run}", response_model=Run)
async def remove_run(run: RunNumber, lab: TheLab) -> dict[str, Any]:
    """Removes a past run with all that is kept of it. 409 for the run that is going on."""
    found: dict[str, Any] = msgspec.to_builtins(await service.remove(lab, run))
    return found
