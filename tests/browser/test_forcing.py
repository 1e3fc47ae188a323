"""A group that lost its quorum: the page shows it, shows the cost of forcing, and the button restores service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.families.looks import SIZES, faultless
from tests.browser.looking import TAKEOVER_MS, active, card, goes_on, opened, role_is, server, sn
from tests.browser.running import START_S, Running, wait_for

SHAPE = ("--standbys", "2", "--data-nodes", "0")


@pytest.fixture
def lost(own: Running) -> Iterator[tuple[Running, str]]:
    """A cluster of three with one server left, and its name."""
    own.shape = SHAPE
    own.start()
    names = own.group("g1")["configuration"]["members"]
    first = own.group("g1")["active"]
    left, other = (name for name in names if name != first)
    own.do("crash", other)
    wait_for(lambda: len(own.group("g1")["configuration"]["members"]) == 2, START_S, "a configuration of two")
    own.do("crash", first)
    wait_for(lambda: own.group("g1")["active"] == left, START_S, f"the place of the active for {left}")
    yield own, left


def test_the_button_makes_the_last_server_serve(
    browser: Browser, page: Page, lost: tuple[Running, str]
) -> None:
    running, left = lost
    opened(page, running.url)
    role_is(page, left, "active")
    expect(card(page, left)).to_contain_text("upgrading")
    expect(page.get_by_test_id("unserved-g1")).to_have_text("no server serves")
    expect(page.get_by_test_id("guide")).to_contain_text("No server answers now")
    gone = [each["name"] for each in running.ask("cluster")["servers"] if each["name"] != left]
    for name in gone:
        role_is(page, name, "down")
    asks_well(browser, running, left, gone)

    card(page, left).focus()
    page.keyboard.press("j")
    cost = page.get_by_test_id("cost-force")
    expect(cost).to_contain_text(f"{left} serves with its own journal, up to sn {sn(page, left)}")
    expect(cost).to_contain_text(f"Later groups that only {' or '.join(gone)} may hold are lost")
    page.get_by_test_id("do-force").click()
    expect(page.get_by_test_id("toast-done")).to_contain_text(f"Forced {left} to serve")
    expect(page.get_by_test_id("unserved-g1")).to_have_count(0, timeout=TAKEOVER_MS)
    expect(card(page, left)).to_contain_text("active", timeout=TAKEOVER_MS)
    goes_on(page, left)
    assert running.group("g1")["configuration"]["members"] == [left]

    for name in gone:
        running.do("restart", name)
        role_is(page, name, "standby")
    assert active(page) == left


def asks_well(browser: Browser, running: Running, left: str, gone: list[str]) -> None:
    """No overflow and no unreadable text while the question is open; Escape closes it."""
    for width, scheme in SIZES:
        context = browser.new_context(
            viewport={"width": width, "height": 860}, color_scheme=scheme, reduced_motion="reduce"
        )
        page = context.new_page()
        opened(page, running.url)
        card(page, left).focus()
        page.keyboard.press("j")
        expect(page.get_by_test_id("cost-force")).to_be_in_viewport(ratio=1)
        expect(page.get_by_test_id("do-force")).to_be_in_viewport(ratio=1)
        faultless(page, width, "the question of force")
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("do-force")).to_have_count(0)
        context.close()


def test_a_group_that_is_served_is_not_forced(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    name = active(page)
    card(page, name).focus()
    page.keyboard.press("j")
    page.get_by_test_id("do-force").click()
    expect(page.get_by_test_id("toast-error")).to_contain_text("is served by")
    expect(server(page, name)).to_have_attribute("data-role", "active")
