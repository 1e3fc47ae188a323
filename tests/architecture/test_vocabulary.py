"""The page has terms for every family, and the code has none of the old dialect."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from backend.vocabulary import WORDS
from nodes.families import FAMILIES

ROOT = Path(__file__).resolve().parents[2]
OLD = re.compile(
    r"(?i)(?<![a-z])(beats|bringing|course|eras?|goes_back|handed|handing|heard|hearing|heed|heeding|intake|lamps?|octets|parked|photographer"
    r"|shelf|sits|somebody|strangers?|strikes?|struck|telling|told)(?![a-z])"
)


def test_every_family_has_words() -> None:
    assert set(WORDS) == set(FAMILIES)


def test_no_identifier_has_a_word_of_the_old_dialect() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in [*(ROOT / "nodes").rglob("*.py"), *(ROOT / "backend").rglob("*.py")]
        for name in names_in(ast.parse(path.read_text()))
        if OLD.search(name)
    ]
    assert not found


def names_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg", "name"):
            if isinstance(name := getattr(node, field, None), str):
                yield name
