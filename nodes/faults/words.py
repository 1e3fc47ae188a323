"""Texts made from the table of faults: about one fault with its options, and about all options for the command line."""

from __future__ import annotations

from typing import Any

from nodes.faults.check import options_of
from nodes.faults.model import Fabric
from nodes.faults.table import BY_NAME, VERBS


def rule_of(name: str, options: dict[str, Any]) -> str:
    """The effect of a fault on a link, as text: `100 ms slower`."""
    verb = BY_NAME[name]
    kinds = {option.name: option.type for option in verb.options}
    return verb.rule.format_map({key: _shown(kinds.get(key, ""), value) for key, value in options.items()})


def _shown(kind: str, value: Any) -> str:
    if kind == "share":
        return f"{value:.0%}"
    return f"{value:g}" if kind in ("whole", "number") else str(value)


def usage(fabric: Fabric) -> str:
    """Every option with its default: `delay --ms 100 --direction both; …`."""
    found = []
    for verb in VERBS:
        options = options_of(verb, fabric).values()
        if fabric in verb.fabrics and options:
            shown = " ".join(f"--{option.name} {str(option.default).lower()}" for option in options)
            found.append(f"{verb.verb} {shown}")
    return "; ".join(found)
