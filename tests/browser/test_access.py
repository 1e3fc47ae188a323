"""Accessibility: keyboard alone, screen readers, light and dark, small screens."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.looking import active, card, goes_on, opened, role_is, server
from tests.browser.running import ROOT, Running
from tests.chosen import only_full

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
DESK, WALL, PHONE = SIZES = [(1280, 800), (3840, 2160), (400, 860)]
LOOKS = [
    (DESK, "light"),
    (WALL, "dark"),
    (PHONE, "dark"),
    *only_full((DESK, "dark"), (WALL, "light"), (PHONE, "light")),
]

FOUND = """async () => {
  const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];
  const {violations} = await axe.run(document, {runOnly, resultTypes: ['violations']});
  return violations.flatMap(({id, nodes}) => nodes.map(each => `${id}: ${each.target} ${each.failureSummary}`));
}"""
"""Only what axe objects to leaves the page: its account of all that passed is longer than the page, and costs more than the check itself."""


def violations(page: Page) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    reported: list[str] = page.evaluate(FOUND)
    return reported


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed")
@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_axe_finds_nothing(browser: Browser, lab: Running, scheme: Any, size: tuple[int, int]) -> None:
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    opened(page, lab.url)
    expect(page.get_by_test_id("invariant-one-active")).to_be_visible()
    expect(page.get_by_test_id("workload")).to_be_visible()
    assert violations(page) == []
    card(page, active(page)).click()
    expect(page.get_by_test_id("verb-crash")).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("verb-crash")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == []
    context.close()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}px")
def test_nothing_sticks_out_at_the_side(browser: Browser, lab: Running, size: tuple[int, int]) -> None:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    opened(page, lab.url)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    context.close()


def test_the_keyboard_alone_crashes_and_restarts(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    old = active(page)
    names = [each["name"] for each in lab.ask("cluster")["servers"]]
    page.keyboard.press(str(names.index(old) + 1))
    expect(card(page, old)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("verb-crash")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("verb-crash")).to_have_count(0)
    page.keyboard.press(str(names.index(old) + 1))
    page.keyboard.press("c")
    expect(server(page, old)).to_have_attribute("data-process", "stopped")
    role_is(page, old, "down")
    goes_on(page, active(page))
    page.keyboard.press("r")
    role_is(page, old, "standby")


def test_the_keys_are_those_that_the_control_plane_reports(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    for verb in lab.ask("verbs"):
        expect(dialog).to_contain_text(verb["label"])
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_colours_can_be_chosen_and_stay(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_test_id("scheme").click()
    page.wait_for_function("was => getComputedStyle(document.body).backgroundColor !== was", arg=before)
    chosen = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.reload()
    expect(page.get_by_test_id("mirror")).to_have_attribute("data-connection", "live")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == chosen


def test_the_workload_can_be_paused_and_throttled(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    name = active(page)
    page.get_by_test_id("workload-pause").click()
    expect(page.get_by_test_id("workload")).to_contain_text("paused")
    assert lab.ask("cluster")["clients"][0]["paused"] is True
    page.get_by_test_id("workload-pause").click()
    expect(page.get_by_test_id("workload")).not_to_contain_text("paused")
    goes_on(page, name)
