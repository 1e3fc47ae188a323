"""Every message between servers has a colour on the page."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DRAWN = (ROOT / "frontend" / "src" / "instruments" / "topology" / "draw.ts").read_text()
MESSAGES = sorted((ROOT / "nodes" / "protocols").glob("*/messages.py"))


def kinds(path: Path) -> list[str]:
    classes = (node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef))
    bases = {"Message", "CrossGroupMessage", "Question", "Reply"}
    return [
        node.name
        for node in classes
        if any(isinstance(base, ast.Name) and base.id in bases for base in node.bases)
    ]


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: path.parent.name)
def test_every_kind_belongs_to_a_family(path: Path) -> None:
    found = kinds(path)
    assert found
    assert [kind for kind in found if f'"{kind}"' not in DRAWN] == []
