"""`/healthz` and `/readyz`: probes for service managers and orchestrators, open to every caller."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import PlainTextResponse, Response

from backend.dependencies import TheLab
from backend.running_cluster import Running

router = APIRouter()
OPEN = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths that need no key and answer under any host name: they show no name and change nothing."""


def unready(lab: Running) -> str:
    """Why the cluster is not ready, in one line; empty when it is settled and no invariant is violated."""
    red = [status["invariant"] for status in lab.checks.invariants() if status["state"] == "red"]
    if red:
        return f"violated: {', '.join(red)}"
    if lab.store.trouble:
        return lab.store.trouble
    return "" if lab.fabric.settled() else "not every server has its place"


@router.get("/healthz", include_in_schema=False)
async def healthz() -> Response:
    return PlainTextResponse("ok\n")


@router.get("/readyz", include_in_schema=False)
async def readyz(lab: TheLab) -> Response:
    reason = unready(lab)
    return PlainTextResponse(f"{reason or 'ready'}\n", status_code=503 if reason else 200)
