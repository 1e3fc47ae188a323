"""What `bench page` measures of a load, and the size that the page may have."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from benchmarks import page as bench
from tests.browser.running import Running

PAGE_KB = 300


def test_a_first_load_is_small_and_reacts(
    browser: Browser, lab: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "OPENINGS", 1)
    found = bench.openings(browser, lab.port)
    assert 100 < found["page_kb"] <= PAGE_KB
    assert 0 < found["interactive_ms"] == found["interactive_ms_max"] < bench.LIMIT_MS


def test_frames_are_counted_over_their_time() -> None:
    assert bench.per_s([100.0 + 20 * n for n in range(11)]) == 50.0
