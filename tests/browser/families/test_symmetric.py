"""Members and views: servers inside and outside the primary partition, and a view that a person forces."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect

from tests.browser.families.looks import looks_well
from tests.browser.looking import card, goes_on, opened, role_is, visit
from tests.browser.running import Running

SHAPE = ("--protocol", "symmetric", "--standbys", "2")


def test_it_looks_well(browser: Browser, family: Running) -> None:
    looks_well(browser, family, "symmetric")


def test_compare_proposes_the_family_that_runs(page: Page, family: Running) -> None:
    visit(page, family.url + "compare")
    first, second = (page.get_by_test_id(f"configuration-{number}") for number in (1, 2))
    expect(first.get_by_label("protocol")).to_have_value("symmetric")
    expect(first.get_by_label("standbys")).to_have_value("2")
    expect(second.get_by_label("protocol")).to_have_value("mams")
    first.get_by_label("protocol").select_option("single")
    expect(first.get_by_label("standbys")).to_have_value("0")


def test_members_views_and_who_is_outside(page: Page, family: Running) -> None:
    opened(page, family.url)
    for name in ("mds1", "mds2", "mds3"):
        role_is(page, name, "member")
    goes_on(page, "mds1")
    expect(card(page, "mds1")).to_contain_text("view")
    expect(page.get_by_label("Messages by colour")).to_contain_text("view change")
    expect(page.get_by_label("Journals", exact=True)).to_contain_text("carried out")
    expect(page.get_by_text("no server holds the lock")).to_have_count(0)
    expect(page.get_by_test_id("guide")).to_contain_text("members of one view")

    expect(page.get_by_test_id("page-checkpoints")).to_have_count(0)

    view = page.get_by_test_id("view-g1")
    expect(view).to_contain_text("mds1, mds2, mds3")
    before = int(view.get_attribute("data-number") or 0)
    page.get_by_role("button", name="g1 view").click()
    expect(page.get_by_test_id("verb-take_lock")).to_have_count(0)
    page.get_by_test_id("verb-force_view").click()
    views = page.get_by_test_id("views")
    expect(views).to_contain_text("no member joined or left", timeout=20_000)
    assert int(view.get_attribute("data-number") or 0) > before

    card(page, "mds3").click()
    expect(page.get_by_test_id("pipeline-mds3")).to_contain_text("locks: ")
    page.get_by_test_id("verb-crash").click()
    expect(page.get_by_test_id("outside-g1")).to_contain_text("mds3", timeout=20_000)
    expect(views).to_contain_text("mds3 left")
    goes_on(page, "mds1")
