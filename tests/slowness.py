"""Real servers cannot hold the same times on every machine: times of scenarios and limits follow the measured speed."""

from __future__ import annotations

import os

import pytest

from backend.speed import SET, slowness

LIMIT_S = 300
"""Of one test, on the machine of the reference (pyproject.toml)."""


def slower(time: float) -> float:
    """A time or a factor of times, as much longer as this machine is slower."""
    return time * slowness()


def pytest_configure(config: pytest.Config) -> None:
    """Measured before the workers begin, which share what was found."""
    os.environ.setdefault(SET, f"{slowness():g}")


def pytest_report_header(config: pytest.Config) -> str:
    return f"speed: every time of a scenario, and every limit, is {slowness():g} times as long on this machine now"


def lengthen(items: list[pytest.Item], limit_s: float = LIMIT_S) -> None:
    """Tests that name no limit of their own have one that this machine can hold."""
    for item in items:
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(slower(limit_s)))
