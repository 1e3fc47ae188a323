"""The checkpoints page: marking, recovery, data in quarantine, and void checkpoints."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.looking import visit
from tests.browser.running import Running, wait_for
from tests.browser.test_access import AXE, violations

BACK_MS = 30_000
DRAWS = 12
"""Number of tries until the draw picks a time server outside the silent group."""


def opened(page: Page, lab: Running) -> None:
    visit(page, f"{lab.url}checkpoints")
    expect(page.get_by_test_id("incarnation")).to_be_visible()


def mark(page: Page, name: str) -> None:
    page.get_by_test_id("mark-name").fill(name)
    page.get_by_test_id("mark").click()
    expect(page.get_by_test_id(f"checkpoint-{name}")).to_have_attribute("data-state", "complete")


def known(lab: Running) -> dict[str, Any]:
    return {each["name"]: each for each in lab.ask("checkpoints")["checkpoints"]}


def test_a_checkpoint_is_marked_group_by_group(page: Page, pair: Running) -> None:
    visit(page, pair.url)
    page.get_by_test_id("page-checkpoints").click()
    mark(page, "first")
    barriers = known(pair)["first"]["barriers"]
    shown = page.get_by_test_id("checkpoint-first")
    for group, barrier in barriers.items():
        expect(shown).to_contain_text(f"{group} sn {barrier['sn']:,}")
        for step in ("drain_ns", "drained_ns", "written_ns", "resumed_ns"):
            expect(page.get_by_test_id(f"{step}-{group}")).to_have_attribute("data-reached", "true")
    expect(page.get_by_test_id("marking")).to_contain_text("Requests waited")
    expect(page.get_by_test_id("behind-first")).to_contain_text("operation")

    page.get_by_test_id("mark-name").fill("first")
    page.get_by_test_id("mark").click()
    expect(page.get_by_test_id("mark-failed")).to_contain_text("a name is given once")


def test_the_keyboard_alone_goes_back_and_sees_what_was_set_aside(page: Page, pair: Running) -> None:
    opened(page, pair)
    mark(page, "good")
    mark(page, "later")
    before = pair.ask("checkpoints")["incarnation"]
    button = page.get_by_test_id("recover-good")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("consequence")).to_contain_text("everything after good")
    expect(page.get_by_role("button", name="Leave it")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert pair.ask("checkpoints")["incarnation"] == before

    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("do-recover")).to_be_enabled()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("toast-done").last).to_contain_text("operations quarantined")
    expect(page.get_by_test_id("incarnation")).to_contain_text("rolled back to good", timeout=BACK_MS)
    expect(page.get_by_test_id("checkpoint-later")).to_have_attribute("data-state", "aside")
    expect(page.get_by_test_id("recover-later")).to_have_count(0)
    aside = page.get_by_test_id(f"aside-{before + 1}")
    for server in pair.ask("cluster")["servers"]:
        expect(aside).to_contain_text(server["name"], timeout=BACK_MS)

    page.get_by_test_id("page-cluster").click()
    status = page.get_by_test_id("invariant-linearisable")
    expect(status).to_have_attribute("data-state", "green", timeout=BACK_MS)
    expect(page.get_by_test_id("invariant-no-lost-write")).to_have_attribute("data-state", "green")


def test_a_void_one_says_why_and_cannot_be_gone_back_to(page: Page, pair: Running) -> None:
    opened(page, pair)
    silent = [server["name"] for server in pair.ask("cluster")["servers"] if server["group"] == "g2"]
    for server in silent:
        pair.do("pause", server)
    shown, said = page.get_by_test_id("checkpoint-void-one"), page.get_by_test_id("mark-failed")
    for _ in range(DRAWS):
        page.get_by_test_id("mark-name").fill("void-one")
        page.get_by_test_id("mark").click()
        expect(said).to_contain_text(re.compile("void|ask again"), timeout=BACK_MS)
        if "ask again" not in said.inner_text():
            break
    expect(shown).to_have_attribute("data-state", "void", timeout=BACK_MS)
    expect(shown).to_contain_text("not every active reported its system time")
    expect(page.get_by_test_id("mark-failed")).to_contain_text("void")
    expect(page.get_by_test_id("recover-void-one")).to_have_count(0)
    for server in silent:
        pair.do("resume", server)
    wait_for(pair.in_step, 30, "everybody in step")


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed")
@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (400, "light")])
def test_axe_finds_nothing_on_the_checkpoints_page(
    browser: Browser, pair: Running, width: int, scheme: Any
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    opened(page, pair)
    if not known(pair):
        mark(page, "seen")
    expect(page.get_by_test_id("checkpoints")).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("[data-testid^=recover-]").first.click()
    expect(page.get_by_test_id("do-recover")).to_be_enabled()
    assert violations(page) == []
    context.close()
