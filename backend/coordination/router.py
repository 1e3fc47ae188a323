"""`/api/tree`: the nodes of the coordination service."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from backend.dependencies import TheLab
from backend.errors import NotThere
from backend.running_cluster import Running

router = APIRouter(prefix="/api", tags=["coordination"])
PLACES = "view"


class TreeNode(BaseModel):
    """A node of the coordination tree."""

    path: str
    data: str
    version: int = Field(description="Number of changes of the data.")
    session: str = Field(description="Session that owns an ephemeral node, in hexadecimal; empty for others.")
    owner: str = Field(description="Server whose session that is, as far as its place in a view shows it.")


@router.get("/tree", response_model=list[TreeNode])
async def read_tree(lab: TheLab, path: Annotated[str, Query(max_length=4096)] = "/") -> list[dict[str, Any]]:
    """A node and every node below it."""
    return await tree(lab, path)


async def tree(lab: Running, path: str) -> list[dict[str, Any]]:
    """Raises NotThere, Unavailable."""
    base = "/" + path.strip("/")
    nodes = await lab.fabric.coordination.nodes()
    servers = owners(nodes)
    found = [
        {
            "path": node["path"],
            "data": node["data"],
            "version": node["version"],
            "session": f"{node['owner']:#x}" if node["owner"] else "",
            "owner": servers.get(node["owner"], ""),
        }
        for node in nodes
        if base == "/" or node["path"] == base or node["path"].startswith(base + "/")
    ]
    if not found and base != "/":
        raise NotThere(f"the coordination tree has no node {base[:80]!r}")
    return found


def owners(nodes: list[dict[str, Any]]) -> dict[int, str]:
    """The server of each session that owns a place in a view."""
    found: dict[int, str] = {}
    for node in nodes:
        above, _, name = node["path"].rpartition("/")
        if node["owner"] and above.rpartition("/")[2] == PLACES:
            found[node["owner"]] = name
    return found
