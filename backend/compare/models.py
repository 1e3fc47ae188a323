"""Comparisons in the API's responses and requests."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from backend.clusters.models import Strict
from backend.compare import service
from backend.served_models import served_as

ComparisonOut = served_as(service.Comparison, "ComparisonOut")

Counted = Field(default=None, ge=0, le=14)
Word = Field(default=None, max_length=40)


class ClusterChange(Strict):
    """Differences from the scenario's own cluster; a property that is left out stays the same."""

    protocol: str | None = Word
    variant: str | None = Field(
        default=None,
        max_length=40,
        description="paper: all holes of the protocol's text; variant and holes replace the scenario's own.",
    )
    groups: int | None = Field(default=None, ge=1, le=8)
    standbys: int | None = Counted
    placement: str | None = Word
    granularity: str | None = Word
    cross_group: str | None = Word
    holes: list[str] | None = Field(
        default=None,
        max_length=24,
        description="Open holes of the paper; left out, the scenario's own.",
    )


class CompareRequest(Strict):
    scenario: str = Field(max_length=100, description="Name from `GET /api/compare/choices`.")
    seed: int = Field(default=1, ge=0, le=2**31)
    configurations: list[ClusterChange] = Field(min_length=2, max_length=4)


class FamilyOut(BaseModel):
    name: str
    says: str
    groups_max: int
    standbys_max: int
    holes: list[str] = Field(description="Holes of the paper that the family can open.")


class ScenarioOut(BaseModel):
    file: str
    name: str
    teaches: str
    paper: str
    cluster: dict[str, Any] = Field(description="The scenario's own cluster.")


class Choices(BaseModel):
    """Scenarios, families and mechanisms that can be compared."""

    families: list[FamilyOut]
    placements: list[str]
    cross_groups: list[str]
    scenarios: list[ScenarioOut]
