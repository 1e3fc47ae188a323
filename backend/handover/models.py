"""The planned handover in the API."""

from __future__ import annotations

from pydantic import BaseModel, Field

from backend.clusters.models import Strict


class HandoverRequest(Strict):
    server: str = Field(
        default="", max_length=100, description="The successor; by default a standby in step."
    )


class HandoverDone(BaseModel):
    group: str
    old: str
    new: str = Field(description="The server that serves now.")
    epoch: int
    ms: float = Field(description="Time from the request until the new active serves, in milliseconds.")
