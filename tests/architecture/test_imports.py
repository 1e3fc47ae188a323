"""Allowed imports between packages, checked on the syntax trees; an import that is not listed is forbidden."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PURE = {"nodes.units", "nodes.states", "nodes.errors", "nodes.format_number", "nodes.metadata"}
FLOOR = PURE | {
    "nodes.wire",
    "nodes.trace",
    "nodes.storage",
    "nodes.world",
    "nodes.calls",
    "nodes.ignored_messages",
    "nodes.listeners",
    "nodes.scope",
    "nodes.wake",
    "nodes.config",
    "nodes.mutations",
    "nodes.families",
    "nodes.roles",
}
SERVER = FLOOR | {"nodes.blocks", "nodes.slots", "nodes.replicas", "nodes.metadata_server"}
"""Packages that a metadata server consists of, and that every agreement may import."""
TREE = {
    f"nodes.coordination.{name}"
    for name in ("tree", "operations", "codes", "sessions", "watches", "znode", "paths", "acl")
}
SCRIPT = {f"nodes.explore.{name}" for name in ("calls", "content", "script")}
"""Modules of a trial's client, which also runs in a process of its own."""
ALLOWED: dict[str, set[str]] = {
    "nodes.units": set(),
    "nodes.states": set(),
    "nodes.errors": set(),
    "nodes.format_number": set(),
    "nodes.config": {"nodes.metadata", "nodes.mutations"},
    "nodes.mutations": set(),
    "nodes.families": set(),
    "nodes.kinds": {"nodes.config", "nodes.families", "nodes.trace", "nodes.world"},
    "nodes.faults": {"nodes.states", "nodes.faults", "nodes.families", "nodes.kinds", "nodes.storage.rot"},
    "nodes.roles": set(),
    "nodes.metadata": PURE | {"nodes.mutations"},
    "nodes.listeners": set(),
    "nodes.scope": set(),
    "nodes.wake": {"nodes.trace"},
    "nodes.world": {"nodes.states", "nodes.scope", "nodes.trace", "nodes.wire"},
    "nodes.wire": PURE | {"nodes.wire"},
    "nodes.trace": {"nodes.format_number", "nodes.wire", "nodes.trace"},
    "nodes.ignored_messages": {"nodes.trace", "nodes.world"},
    "nodes.calls": {"nodes.ignored_messages", "nodes.wire", "nodes.world"},
    "nodes.storage": PURE
    | {"nodes.config", "nodes.mutations", "nodes.trace", "nodes.world", "nodes.storage"},
    "nodes.log_lines": set(),
    "nodes.coordination": {
        "nodes.coordination",
        "nodes.errors",
        "nodes.format_number",
        "nodes.log_lines",
        "nodes.units",
    },
    "nodes.counters": FLOOR,
    "nodes.slots": FLOOR,
    "nodes.replicas": FLOOR | {"nodes.slots", "nodes.replicas"},
    "nodes.blocks": FLOOR | {"nodes.blocks"},
    "nodes.servers": FLOOR | {"nodes.blocks", "nodes.counters", "nodes.replicas", "nodes.servers"},
    "nodes.metadata_server": SERVER,
    "nodes.protocols.mams": SERVER | {"nodes.protocols.mams"},
    "nodes.protocols.baselines": SERVER | {"nodes.protocols.baselines"},
    "nodes.protocols.paxos": SERVER | {"nodes.protocols.paxos"},
    "nodes.protocols.symmetric": FLOOR
    | {"nodes.blocks", "nodes.metadata_server", "nodes.replicas", "nodes.protocols.symmetric"},
    "nodes.protocols.dcfs2": FLOOR | {"nodes.slots", "nodes.protocols.dcfs2"},
    "nodes.protocols.vssp": FLOOR | {"nodes.slots", "nodes.protocols.vssp"},
    "nodes.mechanisms": FLOOR
    | {
        "nodes.counters",
        "nodes.metadata_server",
        "nodes.replicas",
        "nodes.slots",
        "nodes.protocols",
        "nodes.workloads.journal_load",
    },
    "nodes.dump": FLOOR | {"nodes.dump", "nodes.protocols", "nodes.replicas", "nodes.servers"},
    "nodes.client": FLOOR | {"nodes.blocks", "nodes.client"},
    "nodes.backup": FLOOR | {"nodes.backup", "nodes.client"},
    "nodes.workloads": FLOOR | {"nodes.client", "nodes.workloads"},
    "nodes.workloads.journal_load": SERVER,
    "nodes.invariants": {
        "nodes.trace",
        "nodes.metadata",
        "nodes.roles",
        "nodes.units",
        "nodes.config",
        "nodes.families",
        "nodes.faults.table",
        "nodes.invariants",
    },
    "nodes.real": FLOOR
    | {
        "nodes.kinds",
        "nodes.log_lines",
        "nodes.real",
        "nodes.mechanisms",
        "nodes.servers",
        "nodes.workloads",
        "nodes.client",
    }
    | SCRIPT,
    "nodes.sim": FLOOR
    | TREE
    | {
        "nodes.sim",
        "nodes.faults",
        "nodes.kinds",
        "nodes.mechanisms",
        "nodes.replicas.ends",
        "nodes.servers",
        "nodes.workloads",
        "nodes.client",
        "nodes.invariants",
    },
    "nodes.explore": FLOOR
    | {
        "nodes.explore",
        "nodes.faults",
        "nodes.kinds",
        "nodes.sim",
        "nodes.client",
        "nodes.invariants",
        "nodes.mechanisms",
    },
    "nodes.grading": FLOOR
    | {
        "nodes.explore",
        "nodes.grading",
        "nodes.mechanisms",
        "nodes.protocols",
        "nodes.replicas",
        "nodes.sim",
    },
    **dict.fromkeys(sorted(SCRIPT), FLOOR | SCRIPT | {"nodes.client"}),
    "nodes.__main__": {"nodes.kinds", "nodes.log_lines", "nodes.real"},
    "nodes.supervisor": {
        "nodes.kinds",
        "nodes.log_lines",
        "nodes.states",
        "nodes.supervisor",
        "nodes.real",
        "nodes.wire",
        "nodes.trace",
    },
    "backend": {"backend", "nodes"},
    "benchmarks": {"backend", "benchmarks", "nodes"},
}
FORBIDDEN = {"backend": "nodes.protocols", "benchmarks": "nodes.protocols"}
OURS = ("nodes", "backend", "benchmarks", "tests")
NO_ASYNCIO = ("nodes/metadata", "nodes/units.py", "nodes/errors.py")


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(source: str) -> list[str]:
    """Modules that a source imports, at any level."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def room_of(module: str) -> str | None:
    """The longest listed package that contains a module."""
    rooms = [room for room in ALLOWED if within(module, room)]
    return max(rooms, key=len) if rooms else None


def wrong_imports(module: str, source: str) -> list[str]:
    room = room_of(module)
    if room is None:
        return [f"{module} is in no listed room"]
    wrong = []
    for imported in imports(source):
        if imported.split(".")[0] not in OURS:
            continue
        allowed = any(within(imported, package) for package in ALLOWED[room])
        if not allowed or within(imported, FORBIDDEN.get(room, "-")):
            wrong.append(f"{module} imports {imported}")
    return wrong


def sources() -> list[Path]:
    return [
        path
        for top in ("nodes", "backend", "benchmarks")
        for path in sorted((ROOT / top).rglob("*.py"))
        if path.stat().st_size and module_of(path) not in ("nodes", "nodes.protocols")
    ]


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_keep_to_the_arrows(path: Path) -> None:
    assert wrong_imports(module_of(path), path.read_text()) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("nodes.metadata.tree", "from nodes.wire import messages"),
        ("nodes.wire.messages", "from nodes.storage.identity import Identity"),
        ("nodes.trace.present", "from nodes.world import World"),
        ("nodes.replicas.view", "import nodes.sim.loop"),
        ("nodes.invariants.one_active", "from nodes.replicas.view import Place"),
        ("backend.lab", "def f():\n    from nodes.protocols.mams import mechanism"),
        ("backend.lab", "from benchmarks._cluster import cluster"),
        ("backend.cli", "def f():\n    from tests.runner import main"),
        ("nodes.client.retry", "import backend.lab"),
        ("nodes.elsewhere", "import os"),
    ],
)
def test_a_wrong_arrow_is_seen(module: str, source: str) -> None:
    assert wrong_imports(module, source)


def test_pure_parts_know_no_asyncio() -> None:
    for name in NO_ASYNCIO:
        top = ROOT / name
        for path in [top] if top.is_file() else top.rglob("*.py"):
            assert "asyncio" not in imports(path.read_text()), path
