"""Journal nodes in a row of their own, with their faults."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect

from tests.browser.families.looks import looks_well
from tests.browser.looking import active, card, goes_on, link_state, opened
from tests.browser.running import Running

SHAPE = ("--protocol", "qjm")


def test_it_looks_well(browser: Browser, family: Running) -> None:
    looks_well(browser, family, "QJM")


def test_a_journal_node_is_crashed_and_the_others_keep_the_journal(page: Page, family: Running) -> None:
    opened(page, family.url)
    name = active(page)
    goes_on(page, name)
    running = page.get_by_test_id("running-journal_node")
    expect(running).to_have_text("3 of 3")
    expect(link_state(page, name, "jn1")).to_have_attribute("data-state", "open")
    node = page.get_by_test_id("node-jn1")
    assert int(node.get_attribute("data-sn") or 0) > 0
    expect(page.get_by_test_id("page-pool")).to_have_count(1)
    expect(page.get_by_test_id("page-checkpoints")).to_have_count(1)
    card(page, "jn1").click()
    expect(page.get_by_test_id("verb-expire_session")).to_have_count(0)
    page.get_by_test_id("verb-crash").click()
    expect(node).to_have_attribute("data-process", "stopped")
    expect(running).to_have_text("2 of 3")
    goes_on(page, name)
    page.locator("#card-jn1").focus()
    page.keyboard.press("r")
    expect(running).to_have_text("3 of 3")
    seen = int(node.get_attribute("data-sn") or 0)
    page.wait_for_function(
        "seen => Number(document.querySelector('[data-testid=node-jn1]').dataset.sn) > seen", arg=seen
    )
