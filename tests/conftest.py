"""For all tests: property tests look at answers, not at how long a busy machine takes for them; a failure on a simulated cluster ends with
what led to it."""

from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings

from tests.told import sections

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
