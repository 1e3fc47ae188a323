"""Operations and results as encoded in messages: lists that begin with a tag, or Structs within one process."""

from __future__ import annotations

from typing import Any

import msgspec

WRITES = frozenset(
    (
        "Create",
        "Mkdir",
        "Rename",
        "Link",
        "Delete",
        "SetPermission",
        "SetOwner",
        "SetTimes",
        "SetReplication",
        "OpenSession",
        "CloseSession",
        "Append",
        "AddBlock",
        "Complete",
        "Restamp",
    )
)
UNKNOWN = "ETIMEDOUT"


def tag_of(operation: Any) -> str:
    return operation[0] if type(operation) is list else type(operation).__name__


def as_travelled(value: Any) -> list[Any]:
    """`[tag, …]`; an empty list for None."""
    if type(value) is list:
        return value
    return [] if value is None else msgspec.to_builtins(value)


def shown(operation: Any) -> str:
    """One short line of an operation or result."""
    tag, *fields = as_travelled(operation) or ["nothing"]
    text = f"{tag}({', '.join(str(field) for field in fields)})"
    return text if len(text) <= 120 else text[:117] + "..."


def answered_wrongly(event: Any, at: str, wanted: str) -> str:
    """The failure text for a `Called` whose answer is not the one expected at its place."""
    seen = event.error or shown(event.result)
    return (
        f"call {event.number} of {event.client}, {shown(event.operation)}, at {at} "
        f"was answered {seen} by {event.server} and should have been {wanted}"
    )
