"""No circle of imports, whether a module imports at its top, within a function, or for type checkers only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.architecture.test_imports import ROOT, imports

PRODUCT = ("nodes", "backend", "benchmarks")


def modules(root: Path, tops: Iterable[str]) -> dict[str, Path]:
    """By dotted name."""
    found = {}
    for top in tops:
        for path in sorted((root / top).rglob("*.py")):
            found[".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")] = path
    return found


def package_of(module: str) -> str:
    """The folder of a module; a module that stands beside the folders is one of its own, and so is each family."""
    return ".".join(module.split(".")[: 3 if module.startswith("nodes.protocols.") else 2])


def folder_of(module: str) -> str:
    return module.rpartition(".")[0]


def arrows(root: Path, tops: Iterable[str]) -> dict[str, set[str]]:
    """Each module and those that it imports."""
    known = modules(root, tops)

    def resolved(name: str) -> str:
        while name and name not in known:
            name = name.rpartition(".")[0]
        return name

    return {
        module: {resolved(name) for name in imports(path.read_text())} - {"", module}
        for module, path in known.items()
    }


def circle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as found:
        return list(found.args[1])
    return []


def joined(graph: dict[str, set[str]], room: Callable[[str], str]) -> dict[str, set[str]]:
    """The same between rooms."""
    found: dict[str, set[str]] = {}
    for module, others in graph.items():
        found.setdefault(room(module), set()).update(map(room, others))
    return {name: others - {name} for name, others in found.items()}


def across(graph: dict[str, set[str]]) -> list[str]:
    """A circle of modules that leads through several folders: within one, two modules may name each other's types."""
    reach: dict[str, set[str]] = {}
    for module in graph:
        ahead, reach[module] = [module], set()
        while ahead:
            new = graph[ahead.pop()] - reach[module]
            reach[module] |= new
            ahead += new
    return sorted(
        f"{one} and {other}"
        for one, others in reach.items()
        for other in others
        if one < other and one in reach[other] and folder_of(one) != folder_of(other)
    )


def test_no_circle_between_packages() -> None:
    assert circle(joined(arrows(ROOT, PRODUCT), package_of)) == []


def test_no_circle_of_modules_through_several_folders() -> None:
    assert across(arrows(ROOT, PRODUCT)) == []


def test_a_circle_is_seen(tmp_path: Path) -> None:
    files = {
        "nodes/wire/calls.py": "def f():\n    import nodes.world",
        "nodes/world.py": "from nodes.trace.base import Event",
        "nodes/trace/base.py": "if TYPE_CHECKING:\n    from nodes.wire import calls",
        "backend/lab.py": "from backend.events.hub import Hub",
        "backend/events/hub.py": "if TYPE_CHECKING:\n    from backend.lab import Lab",
        "backend/store/a.py": "from backend.store import b",
        "backend/store/b.py": "from backend.store.a import A",
    }
    for name, source in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source)
    assert circle(joined(arrows(tmp_path, ("nodes",)), package_of))
    assert circle(joined(arrows(tmp_path, ("backend",)), package_of))
    assert across(arrows(tmp_path, ("backend",))) == ["backend.events.hub and backend.lab"]
    (tmp_path / "nodes/trace/base.py").write_text("")
    assert circle(joined(arrows(tmp_path, ("nodes",)), package_of)) == []
