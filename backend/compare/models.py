"""Comparisons as the API tells them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from backend.clusters.models import Strict

Counted = Field(default=None, ge=0, le=14)
Word = Field(default=None, max_length=40)


class ClusterChange(Strict):
    """What differs from the scenario's own cluster; what is left out stays."""

    protocol: str | None = Word
    variant: str | None = Field(
        default=None,
        max_length=40,
        description="paper: all holes of the protocol's text; variant and holes stand in place of the scenario's own.",
    )
    groups: int | None = Field(default=None, ge=1, le=8)
    standbys: int | None = Counted
    placement: str | None = Word
    granularity: str | None = Word
    cross_group: str | None = Word
    holes: list[str] | None = Field(
        default=None,
        max_length=24,
        description="The paper's holes that are open; the scenario's own when left out.",
    )


class CompareRequest(Strict):
    scenario: str = Field(max_length=100, description="As `GET /api/compare/choices` names it.")
    seed: int = Field(default=1, ge=0, le=2**31)
    configurations: list[ClusterChange] = Field(min_length=2, max_length=4)


class FamilyOut(BaseModel):
    name: str
    says: str
    groups_max: int
    standbys_max: int
    holes: list[str] = Field(description="The paper's holes that it can open.")


class ScenarioOut(BaseModel):
    file: str
    name: str
    teaches: str
    paper: str
    cluster: dict[str, Any] = Field(description="Of the scenario itself.")


class Choices(BaseModel):
    """What can be compared."""

    families: list[FamilyOut]
    placements: list[str]
    cross_groups: list[str]
    scenarios: list[ScenarioOut]


class ConfigurationOut(BaseModel):
    cluster: dict[str, Any]
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    at_s: float = Field(description="Virtual seconds that it has come.")
    error: str
    measured: dict[str, Any] | None


class ComparisonOut(BaseModel):
    comparison: int
    scenario: str
    seed: int
    configurations: list[ConfigurationOut]
