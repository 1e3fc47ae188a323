"""The storage pool: locations of files, and orders to check them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from backend.dependencies import TheLab
from backend.events.router import Number, RunNumber, as_json
from backend.pool import lookup, service
from backend.pool.models import Looked, Ordered, PoolOrder, PoolOut

router = APIRouter(prefix="/api", tags=["storage pool"])


@router.get("/runs/{run}/pool", response_model=list[PoolOut])  # type: ignore[valid-type]
async def read_pool(run: RunNumber, lab: TheLab, at_ns: Number | None = None) -> Response:
    """Files by pool node, group by group, at a moment; without at_ns the last one."""
    return as_json(await service.volumes(lab, run, at_ns))


@router.post("/pool", response_model=Ordered)
async def order(request: PoolOrder, lab: TheLab) -> dict[str, str]:
    """Orders the active of a group to compare all replicas, or to take an image; events report the progress."""
    return {"server": await service.order(lab, request.group, request.do)}


@router.get("/pool/look", response_model=Looked)
async def look(path: Annotated[str, Query(max_length=4096)], lab: TheLab, sn: Number = 0) -> dict[str, Any]:
    """Looks a path up in the newest images, or in the one at `sn`; only the partitions that it needs are loaded."""
    return await lookup.look(lab, path, sn)
