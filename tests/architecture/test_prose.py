"""Text for people is written once and read by nobody else: what a program has to know of an event is a typed field of it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROSE = ("reason", "detail", "explanation")
READS = {
    *("startswith", "endswith", "removeprefix", "removesuffix", "find", "index", "count"),
    *("split", "rsplit", "partition", "rpartition", "splitlines"),
}
ON_PAGE = re.compile(
    rf"""\.(?:{"|".join(PROSE)})\b(?:
        \s*(?:[!=]==?(?!=|\s*(?:""|''))|\.(?:split|match|includes|startsWith|endsWith|indexOf|slice|search)\b)
      )|[!=]==?\s*\w[\w.]*\.(?:{"|".join(PROSE)})\b
      |\.(?:exec|test|match)\([^()]*\.(?:{"|".join(PROSE)})\b""",
    re.VERBOSE,
)
PLANTED = (
    'if event.reason == "it is gone": pass',
    'found = "void" in event.detail',
    'event.explanation.split(",")[0]',
    'found = WORDS.get(held.reason, "")',
    "found = WORDS[held.reason]",
    "found = re.search(PATTERN, event.detail)",
    "found = PATTERN.match(failure.explanation)",
    'match event.reason:\n    case "gone": pass',
)
PLANTED_ON_PAGE = (
    'if (event.reason === "it is gone") return;',
    'const name = event.detail.split(":")[0];',
    "const found = /sn (\\d+)/.exec(replica.reason);",
    "if (FENCED === server.reason) return;",
)


def is_prose(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in PROSE


def is_empty(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in ("", None)


def matched(node: ast.AST) -> bool:
    """Whether this decides something by the wording of a text; whether there is one at all may be asked."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return any(map(is_prose, sides)) and not any(map(is_empty, sides))
    if isinstance(node, ast.Subscript):
        return is_prose(node.slice)
    if isinstance(node, ast.Match):
        return is_prose(node.subject)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    read = node.func.attr in READS and any(is_prose(each) for each in ast.walk(node.func.value))
    looked_up = node.func.attr in ("get", "match", "search", "fullmatch", "findall", "finditer")
    return read or (looked_up and any(map(is_prose, node.args)))


def matches(source: str) -> list[int]:
    return [node.lineno for node in ast.walk(ast.parse(source)) if matched(node)]  # type: ignore[attr-defined]


@pytest.mark.parametrize("source", PLANTED)
def test_a_planted_match_is_found(source: str) -> None:
    assert matches(source)


@pytest.mark.parametrize("source", PLANTED_ON_PAGE)
def test_a_planted_match_on_the_page_is_found(source: str) -> None:
    assert ON_PAGE.search(source)


def test_nobody_decides_by_the_wording_of_a_text() -> None:
    sources = [path for top in ("nodes", "backend", "benchmarks") for path in (ROOT / top).rglob("*.py")]
    assert len(sources) > 400
    found = [f"{path.relative_to(ROOT)}:{line}" for path in sources for line in matches(path.read_text())]
    assert found == []


def test_nor_does_the_page() -> None:
    sources = [
        path
        for path in (ROOT / "frontend" / "src").rglob("*.ts*")
        if not path.name.endswith((".test.ts", ".test.tsx"))
    ]
    assert len(sources) > 50
    assert [str(path.relative_to(ROOT)) for path in sources if ON_PAGE.search(path.read_text())] == []
