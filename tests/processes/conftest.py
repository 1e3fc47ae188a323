"""How tests on processes are shared out among workers: by files, whose tests share a cluster, but for those whose tests have one each."""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadFileScheduling

ALONE = ("test_life.py", "test_on_processes.py")


class ByClusters(LoadFileScheduling):
    """One file of long tests would else keep one worker busy to the end, alone."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return nodeid if file.endswith(ALONE) else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ByClusters:
    return ByClusters(config, log)
