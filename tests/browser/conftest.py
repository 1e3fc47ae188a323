"""A browser and a cluster for the tests of the page. Skipped where there is no Chromium or no built page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks._browser import FLAGS, chromium
from tests.browser.running import ROOT, Running, living


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium()
    if path is None:
        pytest.skip("no Chromium on this machine; CLOVERLAB_CHROMIUM may name one")
    if not (ROOT / "frontend" / "dist" / "index.html").is_file():
        pytest.skip("the page is not built: npm run build in frontend")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Running]:
    with living(Running(tmp_path_factory.mktemp("cluster"))) as running:
        yield running


@pytest.fixture
def lab(shared: Running) -> Running:
    """One cluster for all tests, repaired before each."""
    shared.mend()
    return shared


@pytest.fixture
def patient(tmp_path: Path, browser: Browser) -> Iterator[Running]:
    """A cluster for a single test, in which the end of a session decides."""
    with living(Running(tmp_path, shape=("--detection", "session"))) as running:
        yield running


@pytest.fixture
def own(tmp_path: Path, browser: Browser) -> Iterator[Running]:
    """A cluster for a single test, not started."""
    running = Running(tmp_path)
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails the test when the page itself reports an error."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="no-preference")
    page = context.new_page()
    page.set_default_timeout(15_000)
    broken: list[str] = []
    page.on("pageerror", lambda error: broken.append(str(error)))
    yield page
    context.close()
    assert broken == []
