"""Branch coverage of the mechanisms in a trial: arcs from line to line in their code. Only some trials are measured, because measuring is slow."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

NODES = Path(__file__).resolve().parents[1]
MEASURED = ("blocks", "client", "metadata", "metadata_server", "protocols", "replicas", "servers", "storage")
"""Packages of nodes/ whose branches count: all that run inside a server or a client."""
EVERY = 63
"""One trial in so many is measured. Odd: odd seeds alone draw the detection by members."""

Arc = tuple[str, int, int]
"""Module, the line before (0 at the beginning of a function), the line."""


class Arcs:
    """The arcs that were taken while `measuring`."""

    def __init__(self) -> None:
        self.taken: set[Arc] = set()
        self._modules: dict[str, str] = {}

    def _module(self, filename: str) -> str:
        """The module of a file; empty for code that is not measured."""
        module = self._modules.get(filename)
        if module is None:
            path = Path(filename)
            inside = path.is_relative_to(NODES) and path.relative_to(NODES).parts[0] in MEASURED
            module = self._modules[filename] = path.relative_to(NODES).as_posix() if inside else ""
        return module

    def _on_call(self, frame: FrameType, event: str, argument: Any) -> Any:
        module = self._module(frame.f_code.co_filename)
        if not module:
            return None
        before, taken = 0, self.taken

        def on_line(inner: FrameType, kind: str, value: Any) -> Any:
            nonlocal before
            if kind == "line":
                taken.add((module, before, inner.f_lineno))
                before = inner.f_lineno
            return on_line

        return on_line

    @contextmanager
    def measuring(self, wanted: bool) -> Iterator[None]:
        if not wanted:
            yield
            return
        before = sys.gettrace()
        sys.settrace(self._on_call)
        try:
            yield
        finally:
            sys.settrace(before)

    def features(self) -> Iterator[str]:
        """The arcs as strings, for the coverage of a trial."""
        return (f"{module}:{before}>{line}" for module, before, line in self.taken)


def lines_of(module: str) -> set[int]:
    """The lines of a module's functions that can be executed."""
    code = compile((NODES / module).read_text(), module, "exec")
    return {line for function in functions_of(code) for line in body(function)}


def functions_of(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & 0x2:  # a function has locals of its own, a class body has not
                yield constant
            yield from functions_of(constant)


def body(code: CodeType) -> Iterator[int]:
    return (line for _, line in dis.findlinestarts(code) if line and line > code.co_firstlineno)


def reached(coverage: set[str]) -> dict[str, tuple[int, int]]:
    """By measured module: the number of reached lines, and of all lines."""
    seen: dict[str, set[int]] = {}
    for feature in coverage:
        module, colon, arc = feature.partition(":")
        if colon and module.endswith(".py"):
            seen.setdefault(module, set()).add(int(arc.partition(">")[2]))
    found = {}
    for module, lines in sorted(seen.items()):
        known = lines_of(module)
        found[module] = (len(known & lines), len(known))
    return found
