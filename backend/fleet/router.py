"""`/api/clusters`: the clusters of this control plane."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends
from starlette.requests import HTTPConnection

from backend.errors import Malformed, NotThere
from backend.fabrics.watched_cluster import GENTLE
from backend.fleet.fleet import Fleet
from backend.fleet.models import ClusterRequest, FleetMember
from backend.lab import Lab
from backend.shape import Shape
from nodes.kinds import KINDS

router = APIRouter(prefix="/api/clusters", tags=["clusters"])


def the_fleet(connection: HTTPConnection) -> Fleet:
    fleet: Fleet = connection.app.state.fleet
    return fleet


TheFleet = Annotated[Fleet, Depends(the_fleet)]


@router.get("", response_model=list[FleetMember])
async def read_clusters(fleet: TheFleet) -> list[dict[str, Any]]:
    return [member(name, lab) for name, lab in fleet.all().items()]


@router.post("", response_model=FleetMember)
async def create_cluster(request: ClusterRequest, fleet: TheFleet) -> dict[str, Any]:
    """Creates a simulated cluster beside the main one. It stays until it is deleted, and begins afresh with each start of the control plane."""
    load = msgspec.structs.replace(GENTLE, rate_per_s=request.rate_per_s, clients=2, objects=200)
    lab = await fleet.create(request.name, shape_of(request), request.seed, load)
    return member(request.name, lab)


@router.delete("/{name}", response_model=list[FleetMember])
async def delete_cluster(name: str, fleet: TheFleet) -> list[dict[str, Any]]:
    """Stops a cluster and deletes its history; returns those that are left."""
    await fleet.delete(name)
    return [member(name, lab) for name, lab in fleet.all().items()]


@router.api_route("/{name}/{rest:path}", methods=["GET", "POST", "PUT", "DELETE"], include_in_schema=False)
async def no_such_cluster(name: str, rest: str, fleet: TheFleet) -> None:
    """Requests for a cluster that is there do not arrive here (backend/fleet/prefix.py)."""
    there = ", ".join(fleet.all())
    raise NotThere(f"no cluster is called {name[:40]!r}, or it has no {rest[:40]!r}; there are {there}")


def shape_of(request: ClusterRequest) -> Shape:
    """Raises Malformed."""
    unknown = next((kind for kind in request.nodes if kind not in KINDS), "")
    if unknown:
        raise Malformed(f"no kind of node is called {unknown[:40]!r}; there are {', '.join(KINDS)}")
    for kind, count in request.nodes.items():
        if not KINDS[kind].least <= count <= KINDS[kind].most:
            raise Malformed(f"{count} of {KINDS[kind].table}: from {KINDS[kind].least} to {KINDS[kind].most}")
    holes = tuple(sorted(set(request.holes))) if request.holes else None
    return Shape(
        request.groups, request.standbys, request.protocol, request.placement, request.granularity,
        request.cross_group, request.order, holes, variant=request.variant, quorums=request.quorums,
        nodes=request.nodes,
    )  # fmt: skip


def member(name: str, lab: Lab) -> dict[str, Any]:
    clock, file = lab.fabric.virtual_clock, lab.home.file
    return {
        "name": name,
        "cluster": file.cluster.cluster,
        "protocol": file.cluster.protocol,
        "fabric": lab.fabric.kind,
        "settled": lab.fabric.settled(),
        "seed": file.seed,
        "now_ns": lab.fabric.now_ns,
        "playing": clock.playing if clock is not None else True,
        "speed": clock.speed if clock is not None else 1.0,
        "trouble": lab.fabric.trouble or lab.trouble or lab.store.trouble,
    }
