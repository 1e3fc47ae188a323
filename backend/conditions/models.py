"""What a run or a wait can go on until."""

from __future__ import annotations

from pydantic import BaseModel, Field


class UntilChoice(BaseModel):
    text: str = Field(description="A condition on the state, or a kind of event.")
    means: str


class ConditionNow(BaseModel):
    holds: bool
    at_ns: int = Field(description="The cluster's clock when the condition was evaluated.")
