"""The cluster now, and its workload."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter

from backend import status
from backend.clusters import service
from backend.clusters.models import Cluster, StatusOut, WorkloadChange, WorkloadState
from backend.dependencies import TheLab
from backend.errors import Impossible

router = APIRouter(prefix="/api", tags=["cluster"])


@router.get("/cluster", response_model=Cluster)
async def read_cluster(lab: TheLab) -> dict[str, Any]:
    return service.cluster(lab)


@router.get("/status", response_model=StatusOut)
async def read_status(lab: TheLab) -> dict[str, Any]:
    """The processes of the cluster and its problems; `rows` is the same as a table."""
    cluster = service.cluster(lab)
    return {**status.short(cluster), "rows": status.rows(cluster)}


@router.post("/workload", response_model=WorkloadState)
async def change_workload(change: WorkloadChange, lab: TheLab) -> dict[str, Any]:
    """Throttles or pauses the generator; a new number of concurrent calls restarts its client."""
    fabric = lab.fabric
    if fabric.workload is None:
        raise Impossible("this cluster has no workload")
    if lab.bounds is not None:
        lab.bounds.check_load(change.rate_per_s, change.clients)
    if change.clients is not None and change.clients != fabric.workload.clients:
        rate = fabric.throttle["rate_per_s"] if change.rate_per_s is None else change.rate_per_s
        async with lab.fault_lock:
            await fabric.replace_client(
                msgspec.structs.replace(fabric.workload, clients=change.clients, rate_per_s=rate)
            )
    if change.rate_per_s is not None or change.paused is not None:
        await fabric.set_throttle(change.rate_per_s, change.paused)
    lab.fabric.on_states()
    return service.workload(lab)
