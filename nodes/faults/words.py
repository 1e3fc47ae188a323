"""Texts made from the table of faults: about one fault with its options, and as plain text for the command line."""

from __future__ import annotations

import re
from typing import Any

from nodes.faults.table import BY_NAME


def rule_of(name: str, options: dict[str, Any]) -> str:
    """The effect of a fault on a link, as text: `100 ms slower`."""
    verb = BY_NAME[name]
    kinds = {option.name: option.type for option in verb.options}
    return verb.rule.format_map({key: _shown(kinds.get(key, ""), value) for key, value in options.items()})


def _shown(kind: str, value: Any) -> str:
    if kind == "share":
        return f"{value:.0%}"
    return f"{value:g}" if kind in ("whole", "number") else str(value)


def plain(text: str) -> str:
    """Markdown as plain text for a terminal: links and code without their signs."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).replace("`", "")
