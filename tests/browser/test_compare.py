"""The compare page: a request in the URL, two configurations side by side, and errors."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.looking import visit
from tests.browser.running import Running
from tests.browser.test_access import violations

WISH = "compare?scenario=faults/crash-the-active&seed=4&with=standbys:1&with=standbys:3"
DONE_MS = 60_000


def test_two_configurations_side_by_side(page: Page, lab: Running) -> None:
    visit(page, lab.url + WISH)
    expect(page.get_by_test_id("configuration-1")).to_contain_text("1 standby")
    page.get_by_test_id("compare-begin").click()
    for number in (1, 2):
        result = page.get_by_test_id(f"result-{number}")
        expect(result).to_have_attribute("data-state", "done", timeout=DONE_MS)
    figures = page.get_by_test_id("compare-figures")
    expect(figures.get_by_role("row", name=re.compile("^invariants"))).to_contain_text("held")
    writes = figures.get_by_role("row", name=re.compile("^log writes")).get_by_role("cell").all_inner_texts()
    assert float(writes[0]) < float(writes[1])
    assert violations(page) == []


def test_what_cannot_be_compared_is_said(page: Page, lab: Running) -> None:
    visit(page, lab.url + "compare?scenario=groups/several-actives-at-once&with=groups:1&with=")
    page.get_by_test_id("compare-begin").click()
    expect(page.get_by_test_id("result-1")).to_contain_text("no group is called 'g2'", timeout=DONE_MS)
    expect(page.get_by_test_id("result-2")).to_have_attribute("data-state", "done", timeout=DONE_MS)


def test_a_hole_is_opened_beside_the_safe_variant(page: Page, lab: Running) -> None:
    visit(page, lab.url + "compare?scenario=labs/two-primary-views&with=&with=holes:none")
    expect(page.get_by_test_id("configuration-2")).to_contain_text("safe")
    page.get_by_test_id("compare-begin").click()
    for number in (1, 2):
        result = page.get_by_test_id(f"result-{number}")
        expect(result).to_have_attribute("data-state", "done", timeout=DONE_MS)
    checked = page.get_by_test_id("compare-figures").get_by_role("row", name=re.compile("^invariants"))
    expect(checked.get_by_role("cell").nth(0)).to_contain_text("dense journal")
    expect(checked.get_by_role("cell").nth(1)).to_contain_text("held")


def test_the_wish_is_in_the_url(page: Page, lab: Running) -> None:
    visit(page, lab.url + WISH)
    page.get_by_test_id("add-configuration").click()
    page.get_by_test_id("configuration-3").get_by_label("standbys").fill("5")
    expect(page).to_have_url(re.compile("with=standbys:1&with=standbys:3&with=standbys:5$"))
