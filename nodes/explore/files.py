"""Plans and scenarios in files: only values that differ from the defaults."""

from __future__ import annotations

from typing import Any

import msgspec

from nodes.explore.check import check
from nodes.explore.plan import Plan


def sparse(struct: msgspec.Struct) -> dict[str, Any]:
    """A structure without its default values; `plan_of` restores the whole plan."""
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(struct):
        value = getattr(struct, field.name)
        default = field.default
        if field.default_factory is not msgspec.NODEFAULT:
            default = field.default_factory()
        if value != default:
            found[field.encode_name] = _built(value)
    return found


def _built(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return sparse(value)
    if isinstance(value, list):
        return [_built(each) for each in value]
    return value


def plan_of(raw: Any) -> Plan:
    """The plan in parsed data. Raises ValueError with one line that names the error and its place."""
    try:
        plan = msgspec.convert(raw, Plan)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    check(plan)
    return plan
