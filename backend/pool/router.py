"""The storage pool: what lies where, and having it checked."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from backend.depends import TheLab
from backend.events.router import Number, RunNumber, as_json
from backend.pool import looking, service
from backend.pool.models import Looked, Ordered, PoolOrder, PoolOut

router = APIRouter(prefix="/api", tags=["storage pool"])


@router.get("/runs/{run}/pool", response_model=list[PoolOut])
async def read_pool(run: RunNumber, lab: TheLab, at_ns: Number | None = None) -> Response:
    """Files by pool nodes, group by group, at that moment; without at_ns the last one."""
    return as_json(await service.volumes(lab, run, at_ns))


@router.post("/pool", response_model=Ordered)
async def order(request: PoolOrder, lab: TheLab) -> dict[str, str]:
    """Has the active of a group compare all replicas, or take an image; events tell how it goes."""
    return {"server": await service.order(lab, request.group, request.do)}


@router.get("/pool/look", response_model=Looked)
async def look(path: Annotated[str, Query(max_length=4096)], lab: TheLab, sn: Number = 0) -> dict[str, Any]:
    """What the newest images, or that at `sn`, say of a path; only the partitions that it needs are loaded."""
    return await looking.look(lab, path, sn)
