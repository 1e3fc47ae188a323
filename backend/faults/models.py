"""Fault verbs and fault requests."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from backend.clusters.models import Strict


class VerbOptionOut(BaseModel):
    name: str
    type: Literal["direction", "milliseconds", "offset", "share", "boolean", "file"]
    default: Any


class VerbOut(BaseModel):
    verb: str
    key: str
    label: str
    targets: Literal["server", "link", "group", "coordination", "cluster"]
    options: list[VerbOptionOut]
    undo: str | None
    danger: str | None
    asks: bool = Field(description="The page says what it costs now, and asks once more.")


class FaultRequest(Strict):
    verb: str = Field(max_length=40)
    targets: list[str] = Field(
        default=[], max_length=32, description="Names, or words such as 'active of g1'."
    )
    options: dict[str, Any] = Field(default={}, max_length=8)


class FaultDone(BaseModel):
    fault: int = Field(
        description="Its number; of an undoing verb the number of what it undid, 0 for nothing."
    )
    detail: str | None = Field(default=None, description="Of force: what the server goes on with.")
    added: str | None = Field(default=None, description="The server that add_server made.")
