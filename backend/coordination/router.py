"""`/api/tree` and `/api/coordination`: the nodes of the coordination service, its sessions, and what changed them."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query

from backend.coordination.changes import read_changes
from backend.coordination.models import TreeChanges, TreeNode, TreeView
from backend.coordination.tree import tree, view
from backend.dependencies import TheLab

router = APIRouter(prefix="/api", tags=["coordination"])


@router.get("/tree", response_model=list[TreeNode])
async def read_tree(lab: TheLab, path: Annotated[str, Query(max_length=4096)] = "/") -> list[dict[str, Any]]:
    """A node and every node below it."""
    return await tree(lab, path)


@router.get("/coordination", response_model=TreeView)
async def read_view(lab: TheLab) -> dict[str, Any]:
    """The tree with at most 500 nodes, its sessions and watches."""
    service = lab.fabric.coordination
    nodes, sessions = await asyncio.gather(service.nodes(), service.sessions())
    return view(nodes, sessions)


@router.get("/coordination/changes", response_model=TreeChanges)
async def read_tree_changes(lab: TheLab) -> dict[str, Any]:
    """The newest 50 changes of the live run and the newest of each node, each with the events that led to it."""
    return await read_changes(lab)
