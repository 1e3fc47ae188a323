"""Clusters of other families: each file names its own, which runs only for that file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.running import Running, living


@pytest.fixture(scope="module")
def family(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, browser: Browser
) -> Iterator[Running]:
    """A cluster with the module's SHAPE."""
    shape = (*request.module.SHAPE, "--data-nodes", "0")
    with living(Running(tmp_path_factory.mktemp("family"), shape=shape)) as running:
        yield running
