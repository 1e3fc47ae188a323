"""Slow tests: some of the cases, or all when an environment variable is `all`; tests marked `full` only at the level `full` of
`./cloverlab test`."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable
from typing import Any

import pytest

FAMILIES = "CLOVERLAB_FAMILIES"
SCENARIOS = "CLOVERLAB_SCENARIOS"
FULL_LEVEL = "CLOVERLAB_FULL"
EVERY = "all"


def wants_all(variable: str) -> bool:
    return os.environ.get(variable) == EVERY


def chosen(always: Iterable[str], every: Iterable[str], variable: str = FAMILIES) -> list[str]:
    return list(every if wants_all(variable) else always)


def but_for_slow(cases: Iterable[Any], slow: Container[str]) -> list[Any]:
    """Cases of a parametrized test; those whose text is among `slow` for the level `full` alone."""
    return [pytest.param(each, marks=pytest.mark.full if str(each) in slow else ()) for each in cases]


def only_full(*cases: Any) -> list[Any]:
    """Cases of a parametrized test, each a value or a tuple of values, for the level `full` alone."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.full)
        for case in cases
    ]
