"""Scenarios in the API's requests and responses."""

from __future__ import annotations

from pydantic import Field

from backend.clusters.models import Strict
from backend.scenario_runs import catalogue, plan, service
from backend.scenario_runs.worker import FabricOfPage
from backend.scenarios import runner
from backend.served_models import served_as

ScenarioRowOut = served_as(catalogue.ScenarioRow)
ScenarioFileOut = served_as(catalogue.ScenarioFile)
ScenarioCheckOut = served_as(plan.ScenarioCheck)
ScenarioRunRowOut = served_as(service.ScenarioRunRow)
PageRunOut = served_as(service.PageRun)
ScenarioOutcomeOut = served_as(runner.ScenarioOutcome)


class ScenarioText(Strict):
    text: str = Field(max_length=plan.TEXT_BYTES, description="A scenario file.")


class ScenarioRunRequest(ScenarioText):
    variant: int = Field(default=0, ge=0, description="Of the scenarios that a matrix makes, counted from 0.")
    on: FabricOfPage = "simulated"
    protocol: str | None = Field(
        default=None, max_length=40, description="Left out, the scenario's own family."
    )
    seed: int | None = Field(default=None, ge=0, le=2**31, description="Left out, the scenario's own seed.")
    scale: float = Field(
        default=1.0, ge=0.01, le=10, description="Multiplies every time of the text, on processes."
    )
