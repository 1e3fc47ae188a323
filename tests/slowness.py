"""Speed of the machine: real servers cannot hold the same times everywhere, so times of scenarios and limits follow the measured speed."""

from __future__ import annotations

import os

import pytest

from backend.speed import SET, slowness

LIMIT_S = 300
"""Limit of one test on the reference machine (pyproject.toml), in seconds."""


def slower(time: float) -> float:
    """A time, or a factor of times, scaled by the slowness of this machine."""
    return time * slowness()


def pytest_configure(config: pytest.Config) -> None:
    """Measures the speed before the workers begin, which share the result."""
    os.environ.setdefault(SET, f"{slowness():g}")


def pytest_report_header(config: pytest.Config) -> str:
    return f"speed: every time of a scenario, and every limit, is {slowness():g} times as long on this machine now"


def lengthen(items: list[pytest.Item], limit_s: float = LIMIT_S) -> None:
    """Gives tests without a limit of their own one that this machine can hold."""
    for item in items:
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(slower(limit_s)))
