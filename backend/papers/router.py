"""`/api/papers`, `/api/experiments` and `/api/paper-clusters`: mechanisms, figures, and the clusters that show a mechanism."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends
from starlette.requests import HTTPConnection
from starlette.responses import Response

from backend.papers import catalogue, experiments, outcomes
from backend.papers.models import (
    ExperimentPageOut,
    MechanismPageOut,
    PaperClusterOut,
    PaperClusterRequest,
    PaperRowOut,
)
from backend.papers.service import PaperClusters

router = APIRouter(prefix="/api", tags=["papers"])


def the_clusters(connection: HTTPConnection) -> PaperClusters:
    clusters: PaperClusters = connection.app.state.paper_clusters
    return clusters


TheClusters = Annotated[PaperClusters, Depends(the_clusters)]


@router.get("/papers", response_model=list[PaperRowOut])  # type: ignore[valid-type]
def read_papers() -> Any:
    """The five papers with their mechanisms and experiments. It runs in a thread, because it reads files."""
    return msgspec.to_builtins(catalogue.rows())


@router.get("/papers/{paper}/{mechanism}", response_model=MechanismPageOut)
def read_mechanism(paper: str, mechanism: str) -> Any:
    """A mechanism in our words, with its sections, and the steps that show it on a cluster."""
    return msgspec.to_builtins(catalogue.page_of(paper, mechanism))


@router.get("/experiments/{name}", response_model=ExperimentPageOut)
def read_experiment(name: str) -> Any:
    """The paper's figures, and ours from the last `reproduce` on this machine."""
    return msgspec.to_builtins(experiments.page_of(name))


@router.get(
    "/experiments/{name}/plot",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}}}},
)
def read_plot(name: str) -> Response:
    """The plot of that run as SVG."""
    catalogue.experiment_named(name)
    return Response(outcomes.plot_of(name), media_type="image/svg+xml")


@router.post("/paper-clusters", response_model=PaperClusterOut)
async def open_paper_cluster(request: PaperClusterRequest, clusters: TheClusters) -> Any:
    """Creates a simulated cluster that shows a mechanism, under its load. It ends when its page was left and room is needed, or with the control
    plane."""
    return msgspec.to_builtins(await clusters.open(request.paper, request.mechanism))


@router.get("/paper-clusters/{name}", response_model=PaperClusterOut)
async def read_paper_cluster(name: str, clusters: TheClusters) -> Any:
    """Such a cluster now; it counts as used."""
    return msgspec.to_builtins(clusters.view(name))
