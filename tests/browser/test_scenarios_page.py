"""The page of scenarios: the list, its search, and a scenario with its steps."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.families.looks import faultless
from tests.browser.looking import visit
from tests.browser.running import Running

CRASH = "faults/crash-the-active"
SIZES: list[tuple[int, Any]] = [(1920, "light"), (1280, "dark"), (400, "light"), (400, "dark")]


def test_the_list_is_searched_and_a_scenario_opens_with_its_steps(page: Page, lab: Running) -> None:
    visit(page, lab.url)
    page.get_by_test_id("page-scenarios").click()
    expect(page.get_by_role("region", name="Faults in one group")).to_be_visible()
    page.get_by_test_id("scenario-search").fill("standby takes over crashes")
    expect(page.get_by_test_id(f"scenario-{CRASH}")).to_be_visible()
    expect(page.get_by_test_id("scenario-count")).to_have_text(re.compile(r"^[1-9] of \d\d$"))
    page.get_by_test_id(f"scenario-{CRASH}").get_by_role("link").click()

    expect(page).to_have_url(re.compile(f"/scenarios/{CRASH}$"))
    expect(page.get_by_test_id("plan-1")).to_contain_text("crash active of g1")
    expect(page.get_by_test_id("scenario-text")).to_contain_text("target: active of g1")
    page.reload()
    expect(page.get_by_test_id("plan-1")).to_contain_text("at 10s")
    page.go_back()
    expect(page.get_by_test_id(f"scenario-{CRASH}")).to_be_visible()


def test_a_scenario_that_does_not_exist_is_said(page: Page, lab: Running) -> None:
    visit(page, f"{lab.url}scenarios/faults/none")
    expect(page.get_by_role("alert")).to_contain_text("no scenario is called 'faults/none'")
    page.get_by_role("link", name="All scenarios").click()
    expect(page.get_by_test_id(f"scenario-{CRASH}")).to_be_visible()


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_it_looks_well_in_every_size(browser: Browser, lab: Running, width: int, scheme: Any) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    visit(page, f"{lab.url}scenarios")
    expect(page.get_by_test_id(f"scenario-{CRASH}")).to_be_visible()
    faultless(page, width, "the list")
    visit(page, f"{lab.url}scenarios/{CRASH}")
    expect(page.get_by_test_id("plan-1")).to_be_visible()
    faultless(page, width, "a scenario")
    context.close()
