"""Distribution of tests among workers: by file, because its tests share a cluster, except for tests with a cluster of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

from tests.slowness import lengthen
from tests.slowness import pytest_configure as pytest_configure
from tests.slowness import pytest_report_header as pytest_report_header

ALONE = ("test_life.py", "test_on_processes.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    lengthen([item for item in items if item.path.is_relative_to(Path(__file__).parent)])


class ByClusters(LoadFileScheduling):
    """Scheduling by cluster: by file alone, one file of long tests would keep a single worker busy at the end."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return nodeid if file.endswith(ALONE) else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ByClusters:
    return ByClusters(config, log)
