"""Faults: their verbs, and requests to inject one."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from backend.dependencies import TheLab
from backend.errors import Impossible
from backend.faults.models import FaultDone, FaultRequest, VerbOut
from backend.faults.served_table import served

router = APIRouter(prefix="/api", tags=["faults"])


@router.get("/verbs", response_model=list[VerbOut])  # type: ignore[valid-type]
async def read_verbs(lab: TheLab) -> list[dict[str, Any]]:
    """Fault verbs of the cluster's family."""
    return served(lab.family, lab.fabric.kind)


@router.post("/faults", response_model=FaultDone)
async def do_fault(request: FaultRequest, lab: TheLab) -> dict[str, Any]:
    """Injects one fault at a time, in the order of the requests."""
    if lab.no_faults:
        raise Impossible(lab.no_faults)
    async with lab.fault_lock:
        if lab.bounds is not None:
            lab.bounds.check_servers(request.verb, len(lab.fabric.picture.servers))
        fault = await lab.faults.do(request.verb, request.targets, request.options)
    lab.fabric.on_states()
    detail = lab.faults.forced if request.verb == "force" else None
    return {
        "fault": fault,
        "detail": detail,
        "added": lab.faults.added if request.verb == "add_server" else None,
    }
