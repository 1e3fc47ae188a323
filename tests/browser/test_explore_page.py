"""The page Explore: a bug is found, read and shrunk; a search is stopped; nothing is wrong at any size in light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from backend.fleet.fleet import MAIN
from backend.remote_requests import ask
from tests.browser.families.looks import faultless
from tests.browser.looking import visit
from tests.browser.running import Running
from tests.failing_seed import BUG, failing_seed

DONE_MS = 120_000


@pytest.fixture
def idle(lab: Running) -> Iterator[Running]:
    """The cluster, without a search and further clusters after the test."""
    yield lab
    if ask(lab.port, "GET", "/api/explore")["state"] != "none":
        ask(lab.port, "DELETE", "/api/explore")
    for played in ask(lab.port, "GET", "/api/clusters"):
        if played["name"] != MAIN:
            ask(lab.port, "DELETE", f"/api/clusters/{played['name']}")


def begin(page: Page, running: Running, seeds: str) -> None:
    visit(page, running.url + "explore")
    page.get_by_test_id("explore-bug").select_option(BUG)
    expect(page.get_by_test_id("explore-family")).to_have_value("mams")
    searched = page.get_by_role("region", name="What is searched")
    expect(searched.get_by_text("Half of the members suffice.")).to_be_visible()
    page.get_by_test_id("explore-unit").select_option("seeds")
    page.get_by_label("Seeds", exact=True).fill(seeds)
    page.get_by_label("First seed").fill(str(failing_seed()))
    page.get_by_test_id("explore-start").click()
    expect(page.get_by_test_id("search")).to_have_attribute("data-state", "running")


def test_a_bug_is_found_read_and_shrunk(browser: Browser, page: Page, idle: Running) -> None:
    begin(page, idle, "1")
    expect(page.get_by_test_id("search")).to_have_attribute("data-state", "ended", timeout=DONE_MS)
    failure = page.get_by_test_id("failed-no lost write").get_by_test_id("failure-1")
    expect(failure).to_have_attribute("data-state", "found")
    page.get_by_test_id("show-1").click()
    schedule = page.get_by_test_id("schedule-1")
    expect(schedule).to_contain_text(f"Cluster, seed {failing_seed()}")
    expect(schedule).to_contain_text(f"./cloverlab run mams-no-lost-write-{failing_seed()}.yaml")
    with page.expect_download() as download:
        page.get_by_test_id("download-1").click()
    assert download.value.suggested_filename == f"mams-no-lost-write-{failing_seed()}.yaml"
    assert BUG in download.value.path().read_text()
    page.get_by_test_id("shrink-1").click()
    expect(failure).to_have_attribute("data-state", "shrinking")
    expect(failure).to_contain_text("trials so far", timeout=DONE_MS)
    page.get_by_test_id("explore-stop").click()
    expect(failure).to_have_attribute("data-state", "partly shrunk", timeout=DONE_MS)
    looks_well(browser, idle)


def test_one_click_plays_it_to_the_broken_promise(page: Page, idle: Running) -> None:
    begin(page, idle, "1")
    page.get_by_test_id("play-1").click(timeout=DONE_MS)
    expect(page.get_by_test_id("clusters")).to_have_attribute("data-cluster", f"mams-{failing_seed()}")
    expect(page.get_by_test_id("invariant-no-lost-write")).to_have_attribute(
        "data-state", "red", timeout=DONE_MS
    )
    [played] = [each for each in ask(idle.port, "GET", "/api/clusters") if each["name"] != MAIN]
    assert not played["playing"]


def looks_well(browser: Browser, running: Running) -> None:
    sizes: list[tuple[int, Any]] = [(400, "dark"), (1024, "light"), (1920, "dark")]
    for width, scheme in sizes:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        visit(page, running.url + "explore")
        page.get_by_test_id("show-1").click()
        expect(page.get_by_test_id("schedule-1")).to_be_visible(timeout=DONE_MS)
        page.get_by_text("What led to it, step by step").click()
        faultless(page, width, f"{width} {scheme}")
        context.close()


def test_a_search_is_stopped_and_keeps_its_findings(page: Page, idle: Running) -> None:
    begin(page, idle, "100000")
    expect(page.get_by_test_id("failures")).to_contain_text("no lost write", timeout=DONE_MS)
    page.get_by_test_id("explore-stop").click()
    expect(page.get_by_test_id("search")).to_have_attribute("data-state", "stopped", timeout=DONE_MS)
    expect(page.get_by_test_id("failures")).to_contain_text("no lost write")
    expect(page.get_by_test_id("explore-start")).to_be_enabled()


def test_a_wrong_length_is_refused_by_the_browser(page: Page, idle: Running) -> None:
    visit(page, idle.url + "explore")
    minutes = page.get_by_role("spinbutton", name="Minutes")
    minutes.fill("61")
    page.get_by_test_id("explore-start").click()
    assert minutes.evaluate("each => each.validity.rangeOverflow")
    assert ask(idle.port, "GET", "/api/explore")["state"] != "running"
