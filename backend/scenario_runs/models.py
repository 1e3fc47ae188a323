"""Scenarios in the API's requests and responses."""

from __future__ import annotations

from backend.scenario_runs import catalogue, plan
from backend.served_models import served_as

ScenarioRowOut = served_as(catalogue.ScenarioRow)
ScenarioFileOut = served_as(catalogue.ScenarioFile)
ScenarioCheckOut = served_as(plan.ScenarioCheck)
