"""Loads a submission: a static check, then its execution with few builtins and with the imports that the lab gives."""

from __future__ import annotations

import ast
import builtins
import importlib
import sys
from collections.abc import Collection, Mapping
from types import ModuleType
from typing import Any

from nodes.grading.limits import Output

BYTES_MAX = 200_000
STANDARD = (
    "__future__",
    "bisect",
    "collections",
    "collections.abc",
    "dataclasses",
    "enum",
    "functools",
    "heapq",
    "itertools",
    "math",
    "operator",
    "typing",
)
"""Modules of Python that every lab gives."""
NO_BUILTINS = (
    "__import__", "breakpoint", "compile", "delattr", "eval", "exec", "exit", "getattr", "globals", "help", "input", "locals", "open", "quit",
    "setattr", "vars",
)  # fmt: skip
ALLOWED_DUNDERS = (
    "__init__",
    "__name__",
    "__eq__",
    "__lt__",
    "__hash__",
    "__len__",
    "__iter__",
    "__contains__",
    "__repr__",
    "__post_init__",
)
MODULE = "submission"


class BadSubmission(Exception):
    """The submission breaks a rule or does not load. One line, with the line of the file."""


def load(path: str, source: bytes, allowed: Collection[str]) -> ModuleType:
    """Checks and executes the module. Raises BadSubmission."""
    tree = checked(path, source, allowed)
    module = ModuleType(MODULE)
    module.__dict__["__builtins__"] = few_builtins(allowed)
    sys.modules[MODULE] = module
    try:
        exec(compile(tree, path, "exec"), module.__dict__)
    except MemoryError:
        raise BadSubmission(f"{path} uses too much memory while it is loaded") from None
    except Exception as error:
        raise BadSubmission(f"{path} does not load: {type(error).__name__}: {error}") from None
    return module


def checked(path: str, source: bytes, allowed: Collection[str]) -> ast.Module:
    """The syntax tree. Raises BadSubmission at the first line that breaks a rule."""
    if len(source) > BYTES_MAX:
        raise BadSubmission(f"{path} has more than {BYTES_MAX} bytes")
    try:
        tree = ast.parse(source, path)
    except SyntaxError as error:
        raise BadSubmission(f"{path}:{error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise BadSubmission(f"{path} cannot be read as Python: {error}") from None
    for node in ast.walk(tree):
        problem = problem_of(node, allowed)
        if problem:
            raise BadSubmission(f"{path}:{getattr(node, 'lineno', 1)}: {problem}")
    return tree


def problem_of(node: ast.AST, allowed: Collection[str]) -> str:
    """What is wrong with one node; empty when nothing is."""
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = ["." * node.level + (node.module or "")]
    elif isinstance(node, ast.Name) and node.id in NO_BUILTINS:
        return f"{node.id} is not there in a lab"
    elif isinstance(node, ast.Attribute) and is_private(node.attr):
        return f"{node.attr} is not there in a lab"
    wrong = [name for name in names if name not in allowed]
    return f"imports {wrong[0]}; the lab gives {', '.join(sorted(allowed))}" if wrong else ""


def is_private(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in ALLOWED_DUNDERS


def few_builtins(allowed: Collection[str]) -> dict[str, Any]:
    given = {name: value for name, value in vars(builtins).items() if name not in NO_BUILTINS}

    def import_allowed(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: tuple[str, ...] = (),
        level: int = 0,
    ) -> ModuleType:
        if level or name not in allowed:
            raise BadSubmission(f"imports {name}; the lab gives {', '.join(sorted(allowed))}")
        module = importlib.import_module(name)
        return module if fromlist else importlib.import_module(name.split(".")[0])

    given["__import__"] = import_allowed
    given["print"] = Output().print
    return given
