"""Papers in the API's requests and responses."""

from __future__ import annotations

from pydantic import Field

from backend.clusters.models import Strict
from backend.papers import catalogue, experiments, service
from backend.served_models import served_as

PaperRowOut = served_as(catalogue.PaperRow)
MechanismPageOut = served_as(catalogue.MechanismPage)
ExperimentPageOut = served_as(experiments.ExperimentPage)
PaperClusterOut = served_as(service.PaperCluster)


class PaperClusterRequest(Strict):
    paper: str = Field(max_length=40)
    mechanism: str = Field(max_length=40)
