"""Shared by all tests: property tests have no time limit per example, because a busy machine is slow. A failure on a simulated cluster ends with
the cluster's story. Tests marked `full` are left out of every level but that."""

from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings

from tests.chosen import FULL_LEVEL, wants_all
from tests.reported import sections

settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and call.excinfo is not None:
        report.sections += sections(frame.frame.f_locals for frame in call.excinfo.traceback)
    return report


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if wants_all(FULL_LEVEL):
        return
    config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("full")])
    items[:] = [item for item in items if not item.get_closest_marker("full")]
