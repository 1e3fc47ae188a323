"""`/api/servers/SERVER`: a server is taken out for good."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from backend.dependencies import TheLab
from backend.errors import Impossible
from nodes.kinds import KINDS

router = APIRouter(prefix="/api", tags=["cluster"])


class ServerGone(BaseModel):
    server: str
    group: str


@router.delete("/servers/{server}", response_model=ServerGone)
async def remove_server(server: str, lab: TheLab) -> dict[str, Any]:
    """Removes a metadata server from its group for good. 409 with the reason when it must stay; 503 when it could not leave in time."""
    node = lab.fabric.picture.nodes.get(server)
    if node is not None:
        raise Impossible(f"{server} stays: {KINDS[node.kind].stays}")
    state = lab.fabric.picture.servers.get(server)
    async with lab.fault_lock:
        await lab.faults.do("remove_server", [server])
    lab.fabric.on_states()
    return {"server": server, "group": state.group if state is not None else ""}
