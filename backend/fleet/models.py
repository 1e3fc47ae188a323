"""The clusters of a control plane, and requests for more."""

from __future__ import annotations

from pydantic import BaseModel, Field

from backend.clusters.models import Strict

NAME_CHARACTERS = 32


class ClusterRequest(Strict):
    """A simulated cluster, with the properties that `up` has as options."""

    name: str = Field(max_length=NAME_CHARACTERS)
    protocol: str | None = Field(default=None, max_length=40)
    variant: str | None = Field(default=None, max_length=40)
    groups: int | None = Field(default=None, ge=1, le=8)
    standbys: int | None = Field(default=None, ge=0, le=9)
    placement: str | None = Field(default=None, max_length=40)
    granularity: str | None = Field(default=None, max_length=40)
    cross_group: str | None = Field(default=None, max_length=40)
    order: str | None = Field(default=None, max_length=40)
    quorums: str | None = Field(default=None, max_length=40)
    holes: list[str] | None = Field(default=None, max_length=32)
    nodes: dict[str, int] = Field(default={}, max_length=8, description="Number of nodes by kind.")
    seed: int | None = Field(default=None, ge=0, lt=1 << 32, description="A drawn one where it is left out.")
    rate_per_s: float = Field(
        default=5.0, ge=0, le=1000, allow_inf_nan=False, description="Calls a second of its workload."
    )


class FleetMember(BaseModel):
    """A cluster in short. Its own API is below `/api/clusters/NAME/`, in the same form as the main cluster's below `/api/`."""

    name: str
    cluster: str
    protocol: str
    fabric: str
    settled: bool
    seed: int
    now_ns: int
    playing: bool = Field(description="Whether virtual time passes; true for real servers.")
    speed: float
    trouble: str
