"""Journals and timeline, beside the topology."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.looking import active, goes_on, opened, role_is
from tests.browser.running import Running, wait_for


def test_a_failover_is_split_and_the_timeline_leads_back_to_it(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    old = active(page)
    before = len(lab.ask("runs/1/timeline?buckets=1")["failovers"])
    lab.do("crash", old)
    wait_for(lambda: len(lab.ask("runs/1/timeline?buckets=1")["failovers"]) > before, 30, "a failover")
    new = active(page)
    failovers = page.get_by_test_id("failovers")
    expect(failovers).to_contain_text(f"{old} → {new}")
    expect(failovers).to_contain_text("detection")
    goes_on(page, new)

    timeline = page.get_by_test_id("timeline")
    timeline.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_test_id("time")).to_have_attribute("data-state", "frozen")
    split = lab.ask("runs/1/timeline?buckets=1")["failovers"][-1]
    start = lab.ask("runs")[0]["started_ns"]
    page.get_by_test_id("scrubber").fill(str((split["fault_ns"] - start) // 1_000_000 - 20))
    role_is(page, old, "active")
    page.get_by_test_id("go-live").click()
    role_is(page, new, "active")


def test_dragging_on_the_timeline_freezes_an_earlier_moment(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    goes_on(page, active(page))
    timeline = page.get_by_test_id("timeline")
    timeline.scroll_into_view_if_needed()
    box = timeline.bounding_box()
    assert box is not None
    now = int(page.get_by_test_id("clock").get_attribute("data-ns") or 0)
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] * 0.3)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + box["height"] * 0.3, steps=5)
    page.mouse.up()
    expect(page.get_by_test_id("time")).to_have_attribute("data-state", "frozen")
    assert int(page.get_by_test_id("clock").get_attribute("data-ns") or 0) < now


def test_a_column_of_the_journals_opens_the_record(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    name = active(page)
    goes_on(page, name)
    journals = page.get_by_test_id("journals")
    expect(journals).to_have_attribute(
        "data-commit-sn", re.compile(r"\d")
    )  # Before, it has no columns to click at.
    journals.scroll_into_view_if_needed()
    box = journals.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.35)
    record = page.get_by_test_id("record")
    expect(record).to_be_visible()
    expect(record).to_contain_text("client1")


def test_journals_follow_a_scrubbed_moment(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    name = active(page)
    goes_on(page, name)
    journals = page.get_by_test_id("journals")
    start = lab.ask("runs")[0]["started_ns"]
    now = int(page.get_by_test_id("clock").get_attribute("data-ns") or 0)
    earlier = start + (now - start) // 2
    page.keyboard.press(" ")
    expect(page.get_by_test_id("time")).to_have_attribute("data-state", "frozen")
    page.get_by_test_id("scrubber").fill(str((earlier - start) // 1_000_000))
    shown = lab.ask(f"runs/1/picture?at_ns={earlier}")["groups"]["g1"]["commit_sn"]
    wait_for(
        lambda: abs(int(journals.get_attribute("data-commit-sn") or 0) - shown) < 20,
        10,
        "journals of that moment",
    )
    page.get_by_test_id("go-live").click()
    wait_for(
        lambda: int(journals.get_attribute("data-commit-sn") or 0) > shown + 20, 20, "journals of the present"
    )
