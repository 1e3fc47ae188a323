"""Primary and secondaries, ballots, slots that are accepted, decided or empty, and the cost of a write."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect

from tests.browser.families.looks import looks_well
from tests.browser.looking import TAKEOVER_MS, card, goes_on, opened
from tests.browser.running import Running

SHAPE = ("--protocol", "packed-paxos", "--standbys", "2")


def test_it_looks_well(browser: Browser, family: Running) -> None:
    looks_well(browser, family, "Packed Multi-Paxos")


def primary(page: Page) -> str:
    found = page.locator("[data-testid^=server-][data-role=primary]")
    expect(found).to_have_count(1, timeout=TAKEOVER_MS)
    return str(found.get_attribute("data-testid")).removeprefix("server-")


def test_a_ballot_ends_and_the_next_primary_serves(page: Page, family: Running) -> None:
    opened(page, family.url)
    old = primary(page)
    expect(page.locator("[data-testid^=server-][data-role=secondary]")).to_have_count(2)
    expect(card(page, old)).to_contain_text("ballot")
    expect(card(page, old)).to_contain_text("slot")
    journals = page.get_by_label("Journals", exact=True)
    for word in ("accept", "success", "executed", "empty"):
        expect(journals).to_contain_text(word)
    expect(page.get_by_test_id("guide")).to_contain_text(f"{old} is the primary")
    expect(page.get_by_test_id("cost-records-in-a-message")).to_contain_text(".", timeout=20_000)
    accepts = page.get_by_test_id("sent-Accept")
    assert int(accepts.get_attribute("data-messages") or 0) > 0
    rare = page.get_by_test_id("costs-rare")
    expect(page.get_by_test_id("sent-PaxosPrepare")).to_have_count(0)
    rare.click()
    expect(page.get_by_test_id("sent-PaxosPrepare")).to_be_visible()
    rare.click()
    expect(page.get_by_test_id("sent-PaxosPrepare")).to_have_count(0)

    page.get_by_role("button", name="g1 ballot").click()
    expect(page.get_by_test_id("verb-force_view")).to_have_count(0)
    page.get_by_test_id("verb-take_lock").click()
    failovers = page.get_by_test_id("failovers")
    expect(failovers).to_contain_text("ballot 2", timeout=TAKEOVER_MS)
    goes_on(page, primary(page))
