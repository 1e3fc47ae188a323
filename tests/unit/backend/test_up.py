"""Signals and limits of `up`."""

import signal
from collections.abc import Iterator

import pytest

from backend.startup import ending_signals


@pytest.fixture
def hangup() -> Iterator[None]:
    before = signal.getsignal(signal.SIGHUP)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangup")
def test_a_hangup_that_nohup_ignores_does_not_end_the_cluster() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    assert ending_signals() == [signal.SIGINT, signal.SIGTERM]
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    assert ending_signals() == [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
