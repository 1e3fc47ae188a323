"""Fault verbs, as the table has them, and fault requests."""

from __future__ import annotations

from typing import Any

import msgspec
from pydantic import BaseModel, Field, create_model

from backend.clusters.models import Strict
from nodes.faults.model import Option, Undo, Verb


def served_as(name: str, struct: type[msgspec.Struct], **types: Any) -> type[BaseModel]:
    """The model of a row of the table, for the API's description; `types` of fields that hold other rows."""
    fields: dict[str, Any] = {
        field.name: (types.get(field.name, field.type), ...) for field in msgspec.structs.fields(struct)
    }
    return create_model(name, **fields)


OptionOut = served_as("OptionOut", Option)
UndoOut = served_as("UndoOut", Undo)
VerbOut = served_as("VerbOut", Verb, options=list[OptionOut], undo=UndoOut | None)  # type: ignore[valid-type]


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
