"""Every page in light and dark, at the sizes of a laptop and of a projector: axe finds nothing, and the keyboard reaches everything."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.families.looks import faultless
from tests.browser.looking import TAKEOVER_MS, active, card, goes_on, opened, visit
from tests.browser.running import Running
from tests.browser.test_access import AXE
from tests.chosen import only_full

PAGES = (
    "",
    "namespace",
    "storage-pool",
    "checkpoints",
    "coordination",
    "scenarios",
    "scenarios/faults/crash-the-active",
    "compare",
    "explore",
    "labs",
    "labs/what-is-a-standby",
    "papers",
    "papers/cfs/election",
    "papers/experiments/cfs-table2",
)
PROJECTOR = (1024, 768)
LEAST_PX = 11.5
"""Smallest type on a page, in pixels of a projector of 1024 by 768."""

SMALLEST = """() => Math.min(...[...document.querySelectorAll('main *, header *')]
  .filter(each => each.checkVisibility() && [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
  .map(each => parseFloat(getComputedStyle(each).fontSize)))"""
CONTRAST = """button => {
  const { color, backgroundColor } = getComputedStyle(button);
  const light = text => {
    const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map(part => part / 255)
      .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const [a, b] = [light(color), light(backgroundColor)];
  return Math.max(a, b) / Math.min(a, b);
}"""
"""Contrast of a button's text (WCAG)."""
REACHED = """() => {
  const here = document.activeElement, box = here.getBoundingClientRect(), style = getComputedStyle(here);
  return [here.tagName, box.width > 0 && box.height > 0, style.outlineStyle !== 'none' || style.boxShadow !== 'none'];
}"""


def page_of(browser: Browser, size: tuple[int, int], scheme: Any) -> Page:
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, reduced_motion="reduce"
    )
    return context.new_page()


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed")
@pytest.mark.parametrize("scheme", ["dark", *only_full("light")])
def test_axe_finds_nothing_on_any_page(browser: Browser, lab: Running, scheme: Any) -> None:
    page = page_of(browser, PROJECTOR, scheme)
    for path in PAGES:
        visit(page, lab.url + path)
        expect(page.locator("main")).to_be_visible()
        expect(page.locator(".brand-cluster")).to_contain_text("MAMS")
        faultless(page, PROJECTOR[0], path or "cluster")
        assert page.evaluate(SMALLEST) >= LEAST_PX, path
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        faultless(page, PROJECTOR[0], f"help of {path or 'cluster'}")
    page.context.close()


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed")
@pytest.mark.parametrize("scheme", ["light", *only_full("dark")])
def test_axe_finds_nothing_where_faults_are_in_force(browser: Browser, patient: Running, scheme: Any) -> None:
    page = page_of(browser, PROJECTOR, scheme)
    opened(page, patient.url)
    name = active(page)
    goes_on(page, name)
    card(page, name).focus()
    page.keyboard.press("k")
    expect(page.get_by_test_id(f"marks-{name}")).to_be_visible(timeout=TAKEOVER_MS)
    page.keyboard.press("c")
    expect(page.get_by_test_id(f"kept-{name}")).to_be_visible(timeout=TAKEOVER_MS)
    faultless(page, PROJECTOR[0], "a crashed card")
    page.get_by_test_id("faults").click()
    expect(page.get_by_role("dialog")).to_contain_text("Faults in force")
    faultless(page, PROJECTOR[0], "the list of faults")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Freeze the picture").click()
    expect(page.get_by_test_id("time")).to_have_attribute("data-state", "frozen")
    faultless(page, PROJECTOR[0], "a frozen picture")
    page.context.close()


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_a_button_that_is_not_ready_can_be_read(browser: Browser, lab: Running, scheme: Any) -> None:
    page = page_of(browser, PROJECTOR, scheme)
    visit(page, f"{lab.url}labs/what-is-a-standby")
    start = page.get_by_role("button", name="Start the lab")
    expect(start).to_be_disabled()
    assert start.evaluate(CONTRAST) >= 4.5
    page.context.close()


@pytest.mark.parametrize("path", PAGES)
def test_the_focus_is_seen_wherever_tab_goes(browser: Browser, lab: Running, path: str) -> None:
    page = page_of(browser, PROJECTOR, "light")
    visit(page, lab.url + path)
    expect(page.locator("main")).to_be_visible()
    for _ in range(25):
        page.keyboard.press("Tab")
        tag, has_size, marked = page.evaluate(REACHED)
        if tag == "BODY":
            break
        assert has_size and marked, page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
    page.context.close()


def test_with_reduced_motion_nothing_moves_by_itself(browser: Browser, lab: Running) -> None:
    page = page_of(browser, PROJECTOR, "light")
    opened(page, lab.url)
    goes_on(page, active(page))
    moving = "document.getAnimations().filter(each => each.playState === 'running').length"
    assert page.evaluate(moving) == 0
    page.context.close()
