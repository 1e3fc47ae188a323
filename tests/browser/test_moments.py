"""Freezing, stepping, and looking at past moments."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.looking import active, goes_on, opened, role_is, server, sn
from tests.browser.running import Running, wait_for


def state(page: Page, word: str) -> None:
    expect(page.get_by_test_id("time")).to_have_attribute("data-state", word)


def test_space_freezes_the_picture_and_lets_it_go_on(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    name = active(page)
    page.keyboard.press("Space")
    state(page, "frozen")
    seen = sn(page, name)
    wait_for(lambda: lab.ask("cluster")["groups"][0]["commit_sn"] > seen + 20, 20, "commits while frozen")
    assert sn(page, name) == seen
    page.keyboard.press("Space")
    state(page, "live")
    goes_on(page, name)
    assert sn(page, name) > seen + 20


def test_freezing_moves_nothing_beside_the_clock(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    invariants = page.get_by_role("navigation", name="Invariants")
    state(page, "live")
    live = invariants.bounding_box()
    page.keyboard.press("Space")
    state(page, "frozen")
    frozen = invariants.bounding_box()
    assert live is not None and frozen is not None
    assert (live["y"], live["height"]) == (frozen["y"], frozen["height"])


def test_steps_go_event_by_event_and_back(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    goes_on(page, active(page))
    page.keyboard.press("Space")
    state(page, "frozen")
    rows = page.get_by_test_id("mirror")
    pictures = [rows.inner_text()]
    for key in (".", ".", ".", "."):
        before = page.get_by_test_id("story").inner_text() if len(pictures) > 1 else ""
        page.keyboard.press(key)
        expect(page.get_by_test_id("story")).to_be_visible()
        page.wait_for_function(
            "text => document.querySelector('[data-testid=story]').innerText !== text", arg=before
        )
        pictures.append(rows.inner_text())
    for earlier in reversed(pictures[:-1]):
        page.keyboard.press(",")
        expect(rows).to_have_text(re.compile(r"[\s\S]*"))
        page.wait_for_function(
            "text => document.querySelector('[data-testid=mirror]').innerText === text", arg=earlier
        )
    page.get_by_test_id("go-live").click()
    state(page, "live")


def test_a_link_opens_the_same_picture(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    page.keyboard.press("2")
    page.keyboard.press("Space")
    state(page, "frozen")
    page.wait_for_function("() => location.search.includes('at=') && location.search.includes('select=')")
    url, shown = page.url, page.get_by_test_id("mirror").inner_text()
    other = page.context.new_page()
    opened(other, url)
    state(other, "frozen")
    other.wait_for_function(
        "text => document.querySelector('[data-testid=mirror]').innerText === text", arg=shown
    )
    expect(other.locator("[data-selected]")).to_have_count(1)


def test_a_past_run_is_opened_and_the_present_found_again(page: Page, own: Running) -> None:
    own.start()
    old = next(each["name"] for each in own.ask("cluster")["servers"] if each["role"] == "active")
    own.do("crash", old)
    wait_for(lambda: own.ask("runs/1/timeline?buckets=1")["failovers"], 30, "a failover")
    failover = own.ask("runs/1/timeline?buckets=1")["failovers"][0]
    wait_for(lambda: own.ask("cluster")["groups"][0]["commit_sn"] > 100, 30, "more commits")
    own.stop()
    own.start()

    opened(page, own.url)
    page.get_by_test_id("run").click()
    page.get_by_test_id("run-1").click()
    state(page, "past")
    role_is(page, old, "down")
    page.wait_for_function("() => location.search.includes('run=1')")

    serving = failover["fault_ns"] + int(failover["total_ms"] * 1e6)
    opened(page, f"{own.url}?run=1&at={serving}")
    state(page, "past")
    role_is(page, failover["new"], "active")

    before = failover["fault_ns"] - 50_000_000
    opened(page, f"{own.url}?run=1&at={before}")
    state(page, "past")
    role_is(page, old, "active")
    expect(server(page, old)).to_have_attribute("data-process", "running")
    scrubber = page.get_by_test_id("scrubber")
    started = own.ask("runs")[1]["started_ns"]
    scrubber.fill(str((serving - started) // 1_000_000 + 1))
    role_is(page, failover["new"], "active")
    scrubber.press("Home")
    role_is(page, failover["new"], "down")

    page.keyboard.press("1")
    page.keyboard.press("c")
    expect(page.get_by_test_id("toast-error")).to_be_visible()
    page.get_by_test_id("go-live").click()
    state(page, "live")
    goes_on(page, active(page))


def test_a_run_is_exported_opened_from_its_file_and_removed(page: Page, own: Running, tmp_path: Path) -> None:
    own.start()
    old = next(each["name"] for each in own.ask("cluster")["servers"] if each["role"] == "active")
    own.do("crash", old)
    wait_for(lambda: own.ask("runs/1/timeline?buckets=1")["failovers"], 30, "a failover")
    opened(page, own.url)
    page.get_by_test_id("run").click()
    with page.expect_download() as download:
        page.get_by_test_id("run-export").click()
    assert re.fullmatch(r"clover-[0-9a-f]+-run-1\.cloverrun", download.value.suggested_filename)
    file = tmp_path / "mine.cloverrun"
    download.value.save_as(file)
    failovers = own.ask("runs/1/failovers")
    own.do("restart", old)

    page.get_by_test_id("run").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_test_id("run-import").click()
    chooser.value.set_files(file)
    state(page, "past")
    expect(page.get_by_test_id("run")).to_have_attribute("data-run", "2")
    role_is(page, old, "down")
    assert own.ask("runs/2/failovers") == failovers
    page.get_by_test_id("run").click()
    expect(page.get_by_test_id("run-2")).to_contain_text("run 1 of clover-")
    page.keyboard.press("Escape")

    file.write_bytes(file.read_bytes()[:-9])
    page.get_by_test_id("run-file").set_input_files(file)
    expect(page.get_by_test_id("toast-error")).to_contain_text("it is cut off behind line")
    assert [each["run"] for each in own.ask("runs")] == [2, 1]
    page.get_by_test_id("run").click()
    page.get_by_test_id("run-remove").click()
    page.get_by_test_id("do-run-remove").click()
    state(page, "live")
    assert [each["run"] for each in own.ask("runs")] == [1]
    page.get_by_test_id("run").click()
    expect(page.get_by_test_id("run-remove")).to_have_count(0)
    page.keyboard.press("Escape")
    goes_on(page, active(page))


def test_a_lost_connection_is_said_and_caught_up_with(page: Page, own: Running) -> None:
    own.start()
    opened(page, own.url)
    goes_on(page, active(page))
    own.stop()
    expect(page.get_by_test_id("lost")).to_be_visible()
    expect(page.get_by_test_id("mirror")).to_have_attribute("data-connection", "lost")
    own.start()
    expect(page.get_by_test_id("lost")).to_have_count(0, timeout=20_000)
    goes_on(page, active(page))
    expect(page.get_by_test_id("run")).to_have_attribute("data-run", "2")
