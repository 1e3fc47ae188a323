"""Classes of a size that fits in one's head, collaborators that are given when an object is made, and tasks that somebody ends."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.test_imports import ROOT, within

METHODS_MOST = 25
REASON = "Many methods:"
"""How the sentence of a docstring begins that says why a class has more."""
PRODUCT = ("nodes", "backend", "benchmarks")
SPAWNERS = ("nodes.scope", "nodes.sim", "nodes.real", "nodes.coordination", "nodes.supervisor")
"""Who may make tasks by hand: what carries servers. A server's own are spawned in a scope."""
MAKERS = ("create_task", "ensure_future")


def trees(root: Path) -> Iterator[tuple[str, ast.Module]]:
    for top in PRODUCT:
        for path in sorted((root / top).rglob("*.py")):
            yield str(path.relative_to(root)), ast.parse(path.read_text())


def too_large(root: Path) -> list[str]:
    return [
        f"{name}: {node.name} has {methods} methods"
        for name, tree in trees(root)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and (methods := sum(isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) for each in node.body))
        > METHODS_MOST
        and REASON not in (ast.get_docstring(node) or "")
    ]


def is_callback(annotation: ast.expr, aliases: set[str]) -> bool:
    """Whether it is a `Callable`, perhaps under another name of its module, or None."""
    if isinstance(annotation, ast.BinOp):
        return is_callback(annotation.left, aliases) or is_callback(annotation.right, aliases)
    named = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return ast.unparse(named) in {"Callable"} | aliases


def callbacks(root: Path) -> set[str]:
    """Attributes that some class declares as a callback."""
    found = set()
    for _, tree in trees(root):
        aliases = {
            ast.unparse(node.targets[0])
            for node in tree.body
            if isinstance(node, ast.Assign) and is_callback(node.value, set())
        }
        found |= {
            node.target.attr if isinstance(node.target, ast.Attribute) else ast.unparse(node.target)
            for owner in ast.walk(tree)
            if isinstance(owner, ast.ClassDef)
            for node in ast.walk(owner)
            if isinstance(node, ast.AnnAssign)
            and (isinstance(node.target, ast.Attribute) or node in owner.body)
            and is_callback(node.annotation, aliases)
        }
    return found


def hooks(root: Path) -> list[str]:
    """Callbacks, called `on_…` or declared as such, that somebody else sets after an object was made."""
    declared = callbacks(root)
    return [
        f"{name}: {ast.unparse(target)}"
        for name, tree in trees(root)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Attribute) and (target.attr.startswith("on_") or target.attr in declared)
        if ast.unparse(target.value) != "self"
    ]


def makes_task(node: ast.AST | None) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute | ast.Name)
        and (node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id) in MAKERS
    )


def unscoped(root: Path) -> list[str]:
    """Tasks that a server makes outside of a scope; and anywhere those that nobody keeps, which the event loop may forget."""
    found = []
    for name, tree in trees(root):
        module = name.removesuffix(".py").replace("/", ".")
        by_hand = not module.startswith("nodes.") or any(within(module, each) for each in SPAWNERS)
        in_groups = {
            id(node.items[0].optional_vars)
            for node in ast.walk(tree)
            if isinstance(node, ast.AsyncWith) and "TaskGroup" in ast.unparse(node.items[0].context_expr)
        }
        groups = {ast.unparse(node) for node in ast.walk(tree) if id(node) in in_groups}
        for node in ast.walk(tree):
            lost = (
                node.value
                if isinstance(node, ast.Expr)
                else node.body
                if isinstance(node, ast.Lambda)
                else None
            )
            kept_by_group = makes_task(lost) and ast.unparse(lost).split(".")[0] in groups  # type: ignore[arg-type]
            if (makes_task(lost) and not kept_by_group) or (makes_task(node) and not by_hand):
                found.append(f"{name}:{node.lineno}")  # type: ignore[attr-defined]
    return found


def unused_units(root: Path) -> set[str]:
    """Types for quantities, `Sn = NewType("Sn", int)`, that no other module takes."""
    made, taken = set(), set()
    for _, tree in trees(root):
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("NewType("):
                made |= {ast.unparse(target) for target in node.targets}
            elif isinstance(node, ast.ImportFrom):
                taken |= {alias.name for alias in node.names}
    return made - taken


def test_types_of_quantities_are_used() -> None:
    assert unused_units(ROOT) == set()


def test_large_classes_say_why() -> None:
    assert too_large(ROOT) == []


def test_callbacks_are_given_to_constructors() -> None:
    assert hooks(ROOT) == []


def test_every_task_has_somebody_who_ends_it() -> None:
    assert unscoped(ROOT) == []


def test_each_is_seen(tmp_path: Path) -> None:
    methods = "\n".join(f"    def m{number}(self): ..." for number in range(METHODS_MOST + 1))
    files = {
        "nodes/replicas/big.py": f'class Big:\n    """All."""\n{methods}',
        "nodes/metadata/tree.py": f'class Tree:\n    """All. {REASON} one for each operation."""\n{methods}',
        "backend/lab.py": "def f(lab, page):\n    lab.hub.on_change = page.draw",
        "backend/hub.py": (
            "Step = Callable[[], None]\nclass Hub:\n    drawn: Step | None = None\n"
            "    def __init__(self, step):\n        self.drawn = step\n        self.kept: list[Step] = []"
        ),
        "backend/page.py": "def f(hub, page):\n    hub.drawn = page.draw\n    hub.kept = []",
        "nodes/units.py": 'Sn = NewType("Sn", int)\nEpoch = NewType("Epoch", int)',
        "nodes/client/sns.py": "from nodes.units import Sn",
        "nodes/client/calls.py": "task = asyncio.create_task(f())",
        "nodes/real/network.py": "task = loop.create_task(f())\nlater(lambda: loop.create_task(g()))\nloop.create_task(h())",
        "backend/compare/service.py": (
            "async def f():\n    async with asyncio.TaskGroup() as group:\n        group.create_task(g())"
        ),
    }
    for name, source in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source)
    assert unused_units(tmp_path) == {"Epoch"}
    assert too_large(tmp_path) == ["nodes/replicas/big.py: Big has 26 methods"]
    assert hooks(tmp_path) == ["backend/lab.py: lab.hub.on_change", "backend/page.py: hub.drawn"]
    assert sorted(unscoped(tmp_path)) == [
        "nodes/client/calls.py:1",
        "nodes/real/network.py:2",
        "nodes/real/network.py:3",
    ]
