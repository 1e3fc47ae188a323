"""Faults: what there is, and doing one."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from backend.depends import TheLab
from backend.faults.models import FaultDone, FaultRequest, VerbOut
from backend.faults.served import served

router = APIRouter(prefix="/api", tags=["faults"])


@router.get("/verbs", response_model=list[VerbOut])  # type: ignore[valid-type]
async def read_verbs(lab: TheLab) -> list[dict[str, Any]]:
    """Those of the cluster's family."""
    return served(lab.family, lab.fabric.kind)


@router.post("/faults", response_model=FaultDone)
async def do_fault(request: FaultRequest, lab: TheLab) -> dict[str, Any]:
    """One at a time, in the order in which they come."""
    async with lab.fault_lock:
        fault = await lab.faults.do(request.verb, request.targets, request.options)
    lab.hub.processes_changed()
    detail = lab.faults.forced if request.verb == "force" else None
    return {
        "fault": fault,
        "detail": detail,
        "added": lab.faults.added if request.verb == "add_server" else None,
    }
