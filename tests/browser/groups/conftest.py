"""A cluster of two groups, which runs only for these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.running import Running, living

PAIR = ("--groups", "2", "--standbys", "2", "--placement", "random")


@pytest.fixture(scope="package")
def shared_pair(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Running]:
    with living(Running(tmp_path_factory.mktemp("pair"), shape=PAIR)) as running:
        yield running


@pytest.fixture
def pair(shared_pair: Running) -> Running:
    """One cluster for all tests, repaired before each."""
    shared_pair.mend()
    return shared_pair
