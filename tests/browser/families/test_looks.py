"""Families without a file of their own here. All of them: `CLOVERLAB_FAMILIES=all`."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.browser.families.looks import looks_well
from tests.browser.running import Running, living
from tests.browser.test_access import AXE
from tests.chosen import chosen

CALLED = {
    "single": "single server",
    "bookkeeper": "BookKeeper",
    "backupnode": "BackupNode",
    "2pc": "two-phase commit",
    "avatar": "AvatarNode",
    "hadoop-ha": "Hadoop HA",
    "multi-paxos": "Multi-Paxos",
}
ALWAYS = ("single",)


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed")
@pytest.mark.parametrize("protocol", chosen(ALWAYS, CALLED))
def test_it_looks_well(browser: Browser, tmp_path_factory: pytest.TempPathFactory, protocol: str) -> None:
    shape = ("--protocol", protocol, "--data-nodes", "1")
    with living(Running(tmp_path_factory.mktemp("looks"), shape=shape)) as running:
        looks_well(browser, running, CALLED[protocol])
