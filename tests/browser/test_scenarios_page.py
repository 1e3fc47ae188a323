"""The page of scenarios: the list, its search, a scenario with its steps, and the editor."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.families.looks import faultless
from tests.browser.looking import visit
from tests.browser.running import Running
from tests.browser.test_access import AXE, violations
from tests.chosen import only_full
from tests.slowness import slower

CRASH = "faults/crash-the-active"
CALM = "faults/calm"
RUN_MS = slower(60_000)
LOOKS = [(1280, "dark"), (400, "light"), *only_full((1920, "light"), (400, "dark"))]


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
    expect(page.get_by_test_id("scenario-editor")).to_contain_text("target: active of g1")
    page.reload()
    expect(page.get_by_test_id("plan-1")).to_contain_text("at 10s")
    page.go_back()
    expect(page.get_by_test_id(f"scenario-{CRASH}")).to_be_visible()


def test_a_scenario_that_does_not_exist_is_said(page: Page, lab: Running) -> None:
    visit(page, f"{lab.url}scenarios/faults/none")
    expect(page.get_by_role("alert")).to_contain_text("no scenario is called 'faults/none'")
    page.get_by_role("link", name="All scenarios").click()
    expect(page.get_by_test_id(f"scenario-{CRASH}")).to_be_visible()


def test_a_text_is_checked_as_one_types_and_completed(page: Page, lab: Running) -> None:
    visit(page, f"{lab.url}scenarios/{CRASH}")
    text, judgement = page.get_by_label("Text of the scenario"), page.get_by_test_id("scenario-judgement")
    expect(judgement).to_have_attribute("data-state", "sound")
    text.click()
    page.keyboard.press("Control+End")
    page.keyboard.press("Enter")
    page.keyboard.type("surprise: 1")
    expect(judgement).to_have_attribute("data-state", "wrong")
    expect(judgement).to_contain_text("unknown field `surprise`")
    expect(page.locator(".cm-lint-marker-error")).to_have_count(1)
    expect(page.get_by_test_id("plan-1")).to_be_visible()

    page.get_by_test_id("scenario-reset").click()
    expect(judgement).to_have_attribute("data-state", "sound")
    text.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("seed: 7")
    expect(judgement).to_have_attribute("data-state", "sound")

    page.get_by_test_id("scenario-reset").click()
    page.get_by_test_id("plan-1").get_by_role("button").click()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.type(", opt")
    page.keyboard.press("Control+Space")
    expect(page.get_by_role("option", name="options")).to_be_visible()
    page.keyboard.press("Escape")


def test_a_run_ticks_off_and_its_report_is_opened_again(page: Page, lab: Running, tmp_path: Path) -> None:
    visit(page, f"{lab.url}scenarios/{CRASH}")
    page.get_by_test_id("run-family").select_option("qjm")
    page.get_by_test_id("run-seed").fill("5")
    page.get_by_test_id("run").click()
    expect(page.get_by_test_id("plan-1")).to_have_attribute("data-state", "done", timeout=RUN_MS)
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "done", timeout=RUN_MS)
    expect(page.get_by_test_id("plan-4")).to_have_attribute("data-state", "done")
    outcome = page.get_by_test_id("outcome")
    expect(outcome).to_have_attribute("data-held", "true")
    expect(outcome).to_contain_text("seed 5")
    expect(outcome.get_by_test_id("calls").locator(".scenario-outage")).not_to_have_count(0)
    assert violations(page) == []
    with page.expect_download() as html:
        page.get_by_test_id("report-html").click()
    assert "Calls a second" in html.value.path().read_text()
    with page.expect_download() as data:
        page.get_by_test_id("report-json").click()
    data.value.save_as(tmp_path / "report.json")

    page.get_by_role("link", name="All scenarios").click()
    page.get_by_test_id("open-report").set_input_files(tmp_path / "report.json")
    expect(page.get_by_test_id("outcome")).to_contain_text("seed 5")
    page.get_by_test_id("open-report").set_input_files(AXE)
    expect(page.get_by_test_id("report-failed")).to_contain_text("not a report")


def test_a_result_is_there_after_a_reload_and_a_run_under_way_is_cancelled_from_the_list(
    page: Page, lab: Running
) -> None:
    visit(page, f"{lab.url}scenarios/{CALM}")
    page.get_by_test_id("run-seed").fill("11")
    page.get_by_test_id("run").click()
    expect(page.get_by_test_id("outcome")).to_contain_text("seed 11", timeout=RUN_MS)
    page.reload()
    expect(page.get_by_test_id("outcome")).to_contain_text("seed 11")

    text = page.get_by_label("Text of the scenario")
    text.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("name: No end\nteaches: patience\nend: {at: 1000m}\n")
    expect(page.get_by_test_id("scenario-judgement")).to_have_attribute("data-state", "sound")
    expect(page.get_by_test_id("outcome")).to_contain_text("before the newest edits")
    page.get_by_test_id("run").click()
    expect(page.get_by_test_id("run-state")).to_contain_text("of virtual time", timeout=RUN_MS)
    visit(page, f"{lab.url}scenarios")
    newest = page.get_by_test_id("newest-runs").get_by_role("listitem").first
    expect(newest).to_contain_text("No end")
    newest.get_by_role("button", name="Cancel").click()
    expect(newest).to_have_attribute("data-state", "cancelled")
    page.get_by_test_id("newest-runs").get_by_role("button", name="Result").first.click()
    expect(page.get_by_test_id("outcome")).to_contain_text("seed 11")


def test_a_scenario_runs_on_processes(page: Page, lab: Running) -> None:
    visit(page, f"{lab.url}scenarios/{CALM}")
    page.get_by_test_id("run-on").select_option("processes")
    page.get_by_test_id("run-scale").select_option("0.2")
    page.get_by_test_id("run").click()
    expect(page.get_by_test_id("outcome")).to_contain_text("On processes", timeout=2 * RUN_MS)
    expect(page.get_by_test_id("run-state")).to_have_text(re.compile("Over: held"))


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
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
    expect(page.get_by_label("Text of the scenario")).to_be_visible()
    faultless(page, width, "a scenario")
    context.close()
