"""One project of compose.yaml for all tests here. Skipped, with a message, where there is no Docker engine."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import browser as browser
from tests.browser.conftest import page as page
from tests.browser.running import free_port
from tests.containers.running import OVERRIDE, Composed
from tests.slowness import lengthen
from tests.slowness import pytest_configure as pytest_configure
from tests.slowness import pytest_report_header as pytest_report_header

ENGINE = Path(__file__).resolve().parents[3] / "shared" / "container-engine" / "start"
ENGINE_S = 600


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives the first test time for the engine, images and containers."""
    lengthen([item for item in items if item.path.is_relative_to(Path(__file__).parent)], 1_500)


def engine_answers() -> bool:
    try:
        return (
            subprocess.run(["docker", "info"], capture_output=True, check=False, timeout=30).returncode == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def start_engine() -> None:
    """Starts the Docker engine that is installed for these tests, where there is one."""
    if ENGINE.exists() and os.geteuid() == 0:
        os.environ.setdefault("DOCKER_BUILD_NETWORK", "host")
        subprocess.run(
            [str(ENGINE)], check=False, timeout=ENGINE_S, stdin=subprocess.DEVNULL, capture_output=True
        )


@pytest.fixture(scope="session")
def engine() -> None:
    if ENGINE.exists():
        os.environ.setdefault("DOCKER_BUILD_NETWORK", "host")
    if not engine_answers():
        start_engine()
    if not engine_answers():
        pytest.skip("LEFT OUT: no Docker engine runs here, so nothing of compose.yaml was tested")


@pytest.fixture(scope="session")
def shared(engine: None) -> Iterator[Composed]:
    composed = Composed("cloverlab-test", free_port(), [OVERRIDE])
    composed.compose.down()
    composed.compose.build()
    try:
        began = time.monotonic()
        composed.start()
        composed.up_s = time.monotonic() - began
        yield composed
    finally:
        composed.compose.down()


@pytest.fixture
def lab(shared: Composed) -> Composed:
    """The cluster, repaired before each test."""
    shared.mend()
    return shared
