"""A scenario's steps and expectations in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from backend.scenarios.model import EndPart, ExpectPart, StepPart
from backend.scenarios.reader import targets


def begins(step: StepPart) -> str:
    """When a step begins."""
    if step.at is not None:
        return f"at {step.at}"
    if step.after is not None:
        return f"{step.after} after the step before"
    return f"when {step.when}" if step.when is not None else "at once"


def does(step: StepPart) -> str:
    """What a step does."""
    if step.fault is not None:
        return " ".join(of_fault(step))
    if step.workload is not None:
        return f"workload {shown(step.workload)}"
    if step.mark is not None:
        return f"mark checkpoint {step.mark}"
    if step.recover is not None:
        return f"recover checkpoint {step.recover}"
    within = f", within {step.within}" if step.within else ""
    return f"expect {shown(step.expect)}{within}"


def sentence(step: StepPart) -> str:
    return f"{begins(step)}: {does(step)}"


def of_fault(step: StepPart) -> Iterator[str]:
    yield str(step.fault)
    yield from filter(None, [", ".join(targets(step))])
    if step.options:
        yield f"({shown(step.options)})"
    if step.span is not None:
        yield f"for {step.span}"


def ends(end: EndPart) -> str:
    return f"at {end.at}" if end.at is not None else f"when {end.when}, within {end.within}"


def expectations(expect: ExpectPart) -> list[str]:
    """Each expectation that a file states."""
    return [f"{key}: {value_of(value)}" for key, value in given(expect).items()]


def shown(part: Any) -> str:
    return ", ".join(f"{key}: {value_of(value)}" for key, value in given(part).items())


def given(part: Any) -> dict[str, Any]:
    """The properties that differ from their defaults."""
    if isinstance(part, dict):
        return part
    if part is None:
        return {}
    kept = {}
    for field in msgspec.structs.fields(type(part)):
        value = getattr(part, field.name)
        default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
        if value != default:
            kept[field.encode_name] = msgspec.to_builtins(value)
    return kept


def value_of(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(value_of, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {value_of(each)}" for key, each in value.items())
    return str(value)
