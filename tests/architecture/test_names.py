"""A class name means one class, and a module is named by a noun."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from backend.cli import MODULES as COMMANDS

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("nodes", "backend", "benchmarks")

TWICE = {
    "Granted": "the outcome of a call is in journals and in the digest of results, and the message of a lease is in stored traces",
    "ImageShelved": "an event and the message that reports it, both in stored traces",
}
"""Class names that two modules define, with the reason."""

NO_NOUN = re.compile(
    r"(ing|ed|ly|able|ible|ous)$|^(after|anew|apart|aside|atomic|away|back|before|causal|everywhere|exact|found|held|inside|kept|known"
    r"|nearest|once|outside|remote|told|up|who|why)$"
)
"""The last word of a module's name, where it is a participle, an adverb, an adjective or a preposition."""
NOUNS = {"encoding", "framing", "listing", "packing", "ring", "routing", "speed", "table", "tally"}
"""Nouns that look like something else."""
TERMS = {"catch_up", "exactly_once"}
"""Terms of the field."""


def doubles(sources: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The modules of each class name that more than one of these (module, text) defines."""
    found = defaultdict(list)
    for module, text in sources:
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(module)
    return {name: modules for name, modules in found.items() if len(modules) > 1}


def is_noun(path: Path) -> bool:
    """Whether a module's name is one, or the word of the command that the module is."""
    name = path.stem
    if path.parts[:2] == ("backend", "commands") and name in COMMANDS:
        return True
    if path.parts[0] == "benchmarks" and len(path.parts) == 2 and not name.startswith("_"):
        return True
    return name in TERMS or (last := name.split("_")[-1]) in NOUNS or not NO_NOUN.search(last)


def modules() -> list[Path]:
    found = (path.relative_to(ROOT) for top in PRODUCT for path in sorted((ROOT / top).rglob("*.py")))
    return [path for path in found if path.stem not in ("__init__", "__main__")]


def test_every_class_name_is_defined_once() -> None:
    found = doubles((str(path), (ROOT / path).read_text()) for path in modules())
    assert {name: where for name, where in found.items() if name not in TWICE} == {}
    assert set(TWICE) == set(found), "an exception that is none any more"


def test_every_module_is_named_by_a_noun() -> None:
    assert [str(path) for path in modules() if not is_noun(path)] == []


def test_a_planted_double_is_found() -> None:
    planted = [("nodes/a.py", "class Ledger: ..."), ("backend/b.py", "class Ledger: ...\nclass Page: ...")]
    assert doubles(planted) == {"Ledger": ["nodes/a.py", "backend/b.py"]}


@pytest.mark.parametrize("name", ["reading", "set_aside", "unanswered", "up", "exactly_credible"])
def test_a_planted_name_that_is_no_noun_is_found(name: str) -> None:
    assert not is_noun(Path("nodes", f"{name}.py"))
