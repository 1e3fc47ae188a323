"""`python -m backend.faults.page --write`: the tables of docs/faults.md, from the table of faults. Without `--write` it prints the page."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from nodes.faults.check import options_of
from nodes.faults.model import Option, Verb
from nodes.faults.table import PROCESSES, VERBS
from nodes.kinds import KINDS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "faults.md"
PART = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->\n)", re.DOTALL)
WORDS = {kind.name: kind.label for kind in KINDS.values()} | {
    "coordination": "`coordination`",
    "links": "nothing",
}


def target_words(verb: Verb) -> str:
    if verb.on_links:
        return "one or two names" + (" or none" if not verb.counts[0] else "")
    if verb.targets == PROCESSES:
        return "any process, `coordination`"
    return "" if verb.targets == ("cluster",) else ", ".join(WORDS.get(each, each) for each in verb.targets)


def option_words(options: Iterable[Option]) -> str:
    """Options with their defaults: `ms` 100."""
    return ", ".join(f"`{option.name}` {shown(option.default)}".strip() for option in options)


def shown(default: object) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return "" if default in (None, "") else str(default)


def undo_words(verb: Verb) -> str:
    if verb.undo is None:
        return ""
    options = "".join(f" `{name}: {shown(value)}`" for name, value in verb.undo.options.items())
    return f"`{verb.undo.verb}`{options}"


def rows(head: str, lines: Iterable[str]) -> str:
    return "\n".join([head, "|" + "---|" * (head.count("|") - 1), *lines]) + "\n"


def everywhere() -> str:
    """Table of the verbs of every fabric."""
    lines = [
        f"| `{verb.verb}` | {verb.key} | {target_words(verb)} | {option_words(options_of(verb, 'processes').values())} "
        f"| {undo_words(verb)} | {verb.does} |"
        for verb in VERBS
        if "processes" in verb.fabrics
    ]
    return rows("| verb | key | targets | options | undone by | effect |", lines)


def options() -> str:
    """Table of the options of these verbs."""
    meant: dict[tuple[str, str], list[str]] = {}
    for verb in VERBS:
        for option in options_of(verb, "processes").values():
            if "processes" in verb.fabrics:
                meant.setdefault((option.name, option.help + bounds(option)), []).append(f"`{verb.verb}`")
    lines = [f"| `{name}` | {', '.join(verbs)} | {text} |" for (name, text), verbs in meant.items()]
    return rows("| option | of | meaning |", lines)


def bounds(option: Option) -> str:
    if option.type not in ("whole", "number"):
        return ""
    return f" ({option.least:.0f} to {option.most:.0f} {option.unit})"


def simulator() -> str:
    """Table of the verbs that only the simulator has."""
    lines = [
        f"| `{verb.verb}` | {option_words(verb.options)} | {verb.does} |"
        for verb in VERBS
        if "processes" not in verb.fabrics
    ]
    return rows("| verb | options | effect |", lines)


def simulator_options() -> str:
    """Table of the options that only the simulator has, by their meaning."""
    meant: dict[tuple[str, str], list[str]] = {}
    for verb in VERBS:
        for option in verb.options:
            if "processes" not in option.fabrics:
                meant.setdefault((option.name, option.help), []).append(f"`{verb.verb}`")
    for verb in VERBS:
        for option in verb.options:
            if option.simulated_choices:
                more = ", ".join(f"`{choice}`" for choice in option.simulated_choices)
                meant.setdefault((option.name, f"also {more}"), []).append(f"`{verb.verb}`")
    lines = [f"| `{name}` | {', '.join(verbs)} | {text} |" for (name, text), verbs in meant.items()]
    return rows("| option | of | meaning |", lines)


TABLES = {
    "everywhere": everywhere,
    "options": options,
    "simulator": simulator,
    "simulator_options": simulator_options,
}


def page(text: str) -> str:
    """The page with current tables."""
    return PART.sub(lambda found: found[1] + TABLES[found[2]]() + found[3], text)


def main(arguments: list[str]) -> None:
    text = page(PAGE.read_text())
    if arguments == ["--write"]:
        PAGE.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main(sys.argv[1:])
