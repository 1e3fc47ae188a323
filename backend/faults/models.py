"""Fault verbs of the table, and fault requests."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from backend.clusters.models import Strict
from backend.served_models import served_as
from nodes.faults.model import Verb

VerbOut = served_as(Verb)


class FaultRequest(Strict):
    verb: str = Field(max_length=40)
    targets: list[str] = Field(
        default=[], max_length=32, description="Names, or roles such as 'active of g1'."
    )
    options: dict[str, Any] = Field(default={}, max_length=8)


class FaultDone(BaseModel):
    fault: int = Field(
        description="Number of the fault; for an undoing verb the number of the ended fault, 0 for none."
    )
    detail: str | None = Field(
        default=None,
        description="Result of force: the sn up to which the server has the journal, and possible losses.",
    )
    added: str | None = Field(default=None, description="The server that add_server created.")
