"""`python -m backend.scenarios.schema`: the JSON Schema of scenario files, as docs/scenario.schema.json has it."""

from __future__ import annotations

from typing import Any

import msgspec

from backend.scenarios.model import Scenario
from nodes.faults.model import Option, Verb
from nodes.faults.table import VERBS

OF_MATRIX = {"type": "string", "pattern": r"\{\w+\}"}
"""Schema of a placeholder that a matrix replaces."""


def schema() -> bytes:
    """The JSON Schema for editors; the options of faults come from the table of faults."""
    made = msgspec.json.schema(Scenario)
    step = made["$defs"]["StepPart"]
    names = {"enum": [verb.verb for verb in VERBS]}
    step["properties"]["fault"] = {"anyOf": [names, OF_MATRIX, {"type": "null"}], "default": None}
    step["allOf"] = [of_verb(verb) for verb in VERBS]
    for verb in reversed(VERBS):
        made["$defs"] |= {name_of(option): of_option(option) for option in verb.options}
    return msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n"


def of_verb(verb: Verb) -> dict[str, Any]:
    """The options of a step with this fault; no other option is valid."""
    options = {option.name: {"$ref": f"#/$defs/{name_of(option)}"} for option in verb.options}
    return {
        "if": {"properties": {"fault": {"const": verb.verb}}, "required": ["fault"]},
        "then": {"properties": {"options": {"properties": options, "additionalProperties": False}}},
    }


def name_of(option: Option) -> str:
    """Name after the first verb with the option; verbs share options."""
    first = next(verb for verb in VERBS if option in verb.options)
    return f"{first.verb}.{option.name}"


def of_option(option: Option) -> dict[str, Any]:
    alone = "" if "processes" in option.fabrics else "; only on the simulator"
    return {**of_type(option), "default": option.default, "description": option.help + alone}


def of_type(option: Option) -> dict[str, Any]:
    match option.type:
        case "whole" | "number":
            kind = "integer" if option.type == "whole" else "number"
            return {"type": kind, "minimum": option.least, "maximum": option.most}
        case "share":
            return {"type": "number", "minimum": 0, "maximum": 1}
        case "switch":
            return {"type": "boolean"}
        case "word":
            return {"type": "string"}
        case "names":
            return {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
        case "choice" | "direction":
            return {"enum": [*option.choices, *option.simulated_choices]}


if __name__ == "__main__":
    print(schema().decode(), end="")
