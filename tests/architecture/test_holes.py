"""The table of holes by replication names exactly the switches that the code of each replication reads."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import msgspec

from nodes.config import Holes
from nodes.families import FAMILIES, HOLES

NODES = Path(__file__).resolve().parents[2] / "nodes"
SHARED = ("nodes.replicas.", "nodes.metadata_server.")
FOLDERS = {
    "mams": ("protocols/mams", "protocols/dcfs2"),
    "paxos": ("protocols/paxos", "protocols/dcfs2"),
    "symmetric": ("protocols/symmetric",),
    "shared-qjm": ("protocols/baselines", "protocols/dcfs2"),
}
UNREACHED = {
    "paxos": {"sn_without_epoch"},
    "symmetric": {"checkpoint_unpinned", "dentry_locks_only", "stale_view_write"},
}
"""Switches of the metadata server that a family does not reach, because it does not use that part: checkpoints, several groups, a lock, or a
journal of groups."""
READ = re.compile(r"\b_?holes\.([a-z_]+)")
Name = tuple[str, str]
"""A module of the shared code, and the name of a definition in it."""


@cache
def parsed(path: Path) -> tuple[str, ast.Module]:
    source = path.read_text()
    return source, ast.parse(source)


def imported(tree: ast.AST) -> dict[str, Name]:
    """Names that a module imports from the shared code, by their local name."""
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(SHARED)
        for alias in node.names
    }


def used(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def defined(tree: ast.Module) -> dict[str, ast.stmt]:
    found: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id: node for target in targets if isinstance(target, ast.Name)}
    return found


def read_by(module: str, name: str) -> tuple[set[str], set[Name]]:
    """The switches that one definition of the shared code reads, and the definitions that it uses."""
    path = NODES / (module.removeprefix("nodes.").replace(".", "/") + ".py")
    if not path.exists():
        return set(), set()
    source, tree = parsed(path)
    here, taken = defined(tree), imported(tree)
    if name not in here:
        return set(), {taken[name]} if name in taken else set()
    names = used(here[name])
    uses = {taken[each] for each in names if each in taken}
    uses |= {(module, each) for each in names if each in here}
    return set(READ.findall(ast.get_source_segment(source, here[name]) or "")), uses


def read_in(folder: str) -> set[str]:
    """Switches read by the protocol's own code and by the shared definitions that it reaches."""
    sources = [parsed(path) for path in (NODES / folder).rglob("*.py")]
    found = {name for source, _ in sources for name in READ.findall(source)}
    ahead = {name for _, tree in sources for name in imported(tree).values()}
    seen: set[Name] = set()
    while ahead:
        name = ahead.pop()
        seen.add(name)
        read, uses = read_by(*name)
        found |= read
        ahead |= uses - seen
    return found


def test_a_family_names_the_switches_that_its_code_reads() -> None:
    for family in FAMILIES.values():
        replication = "shared-qjm" if family.replication.startswith("shared-") else family.replication
        read = {name for folder in FOLDERS[replication] for name in read_in(folder)}
        assert set(family.holes) == read - UNREACHED.get(replication, set()), family.replication


def test_every_switch_is_of_some_family() -> None:
    assert {name for names in HOLES.values() for name in names} == set(Holes.__struct_fields__)
    assert not any(msgspec.to_builtins(Holes()).values())
