"""Server code has no source of randomness but its world."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = {"time", "uuid", "secrets", "datetime", "threading"}
CALLS = {
    ("asyncio", "wait"), ("asyncio", "as_completed"), ("asyncio", "TaskGroup"), ("os", "environ"),
    ("os", "urandom"), ("datetime", "now"),
}  # fmt: skip
RANDOM = {
    "random",
    "randrange",
    "randint",
    "choice",
    "choices",
    "shuffle",
    "getrandbits",
    "sample",
    "uniform",
}
OUTSIDE = ("nodes/real/", "nodes/supervisor/", "nodes/__main__.py", "nodes/sim/")
EXCUSED = {
    "nodes/coordination/clocks.py": "the server process's only clock",
    "nodes/coordination/service.py": "session passwords",
    "nodes/log_lines.py": "log lines of real processes, which no server reads",
}


def findings(source: str) -> list[str]:
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] in MODULES]
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            found.append(str(node.module))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            pair = (node.value.id, node.attr)
            if pair in CALLS or (pair[0] == "random" and pair[1] in RANDOM):
                found.append(".".join(pair))
        elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Set | ast.SetComp):
            found.append("iteration over a set")
    return found


def server_code() -> list[Path]:
    paths = [path for path in sorted((ROOT / "nodes").rglob("*.py"))]
    return [path for path in paths if not str(path.relative_to(ROOT)).startswith(OUTSIDE)]


@pytest.mark.parametrize("path", server_code(), ids=lambda path: str(path.relative_to(ROOT)))
def test_server_code_is_deterministic(path: Path) -> None:
    if str(path.relative_to(ROOT)) not in EXCUSED:
        assert findings(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        "import time",
        "from uuid import uuid4",
        "import asyncio\nasync def f(): await asyncio.wait([])",
        "import random\nx = random.random()",
        "import os\nx = os.environ['A']",
        "for x in {'a', 'b'}: pass",
        "y = [x for x in {'a', 'b'}]",
    ],
)
def test_what_is_forbidden_is_seen(source: str) -> None:
    assert findings(source)
