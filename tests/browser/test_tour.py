"""The tour: a visitor causes a failover, and sees why it took its time and that nothing was lost."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.families.looks import SIZES, faultless
from tests.browser.looking import PAGES, active, card, goes_on, opened, role_is, visit
from tests.browser.running import Running


def test_a_visitor_causes_and_understands_a_failover(page: Page, patient: Running) -> None:
    opened(page, patient.url)
    tour, old = page.get_by_test_id("guide"), active(page)
    forward = tour.get_by_role("button", name="Next")
    expect(tour).to_contain_text(f"{old} is the active: it answers every call")
    expect(tour).to_contain_text("session")
    goes_on(page, old)
    forward.click()
    expect(forward).to_be_disabled()
    card(page, old).click()
    page.get_by_test_id("verb-crash").click()
    expect(page.get_by_test_id(f"kept-{old}")).to_have_text("lock kept until its session ends")
    expect(page.get_by_test_id("countdown")).to_have_text(re.compile(r"in \d\.\d s at the latest"))
    expect(tour).to_contain_text("the others must wait")
    expect(forward).to_be_enabled(timeout=20_000)
    new = active(page)
    expect(tour).to_have_attribute("data-step", "break")
    expect(tour).to_contain_text(f"{new} answers, ")
    expect(page.get_by_test_id(f"kept-{old}")).to_have_count(0)

    forward.click()
    expect(tour).to_contain_text("Here it took ")
    forward.click()
    drawn = page.get_by_test_id("tour-draw")
    decides = drawn.get_attribute("data-by")
    expect(tour).to_contain_text(
        f"The {decides} decides" if decides == "journal" else f"the {decides} decides"
    )
    expect(drawn.locator("[data-winner]")).to_contain_text(new)
    expect(drawn.locator("tbody tr")).to_have_count(3)

    forward.click()
    seen_in_slow_steps(page, old, new)
    forward.click()
    expect(page.get_by_test_id("time")).to_have_attribute("data-state", "live")
    evidence = page.get_by_test_id("tour-evidence")
    expect(evidence).to_contain_text("none is missing")
    assert int(evidence.get_attribute("data-acknowledged") or 0) > 5
    expect(evidence).to_contain_text(re.compile(r"on the disks of .*" + new))
    expect(evidence).to_contain_text(re.compile(r"[1-9]\d* answered afterwards"))

    forward.click()
    expect(tour).to_contain_text(f"Restart {old}")
    page.locator(f"#card-{old}").focus()
    page.keyboard.press("r")
    expect(forward).to_be_enabled(timeout=20_000)
    forward.click()
    tour.get_by_role("button", name="Done").click()
    expect(tour).to_have_count(0)
    page.reload()
    expect(page.get_by_test_id("workload")).to_be_visible()
    expect(tour).to_have_count(0)
    page.get_by_test_id("tour").click()
    expect(tour).to_have_attribute("data-step", "meet")


def test_a_visitor_sees_why_a_certain_death_is_not_waited_for(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    tour, old = page.get_by_test_id("guide"), active(page)
    forward = tour.get_by_role("button", name="Next")
    forward.click()
    card(page, old).click()
    page.get_by_test_id("verb-crash").click()
    expect(forward).to_be_enabled()
    expect(page.get_by_test_id("tour-progress")).to_contain_text(f"The lock of {old} is removed")
    forward.click()
    expect(tour).to_contain_text(f"the program that had started {old} saw its process end")
    expect(tour).to_contain_text(
        "Without leases they wait until its session with the coordination service ends: 5 s"
    )
    forward.click()
    forward.click()
    page.get_by_role("button", name=re.compile(f"The lock of {old} is removed")).click()
    expect(page.get_by_test_id("tour-phase")).to_contain_text("saw it end")


def seen_in_slow_steps(page: Page, old: str, new: str) -> None:
    """Each moment can be chosen, and the replay goes through all of them to the first answer."""
    page.get_by_test_id("phase-0").click()
    expect(page.get_by_test_id("time")).to_have_attribute("data-state", "frozen")
    role_is(page, old, "active")
    shown = page.get_by_test_id("tour-phase")
    expect(shown).to_contain_text("No server answers from here on")
    page.get_by_role("button", name="Replay slowly").click()
    expect(shown).to_contain_text("It removes what the session owned", timeout=20_000)
    shown.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name=re.compile(f"{new} answers")).click()
    role_is(page, new, "active")
    expect(page.get_by_role("button", name="Later")).to_be_disabled()


@pytest.mark.parametrize("path", ["", *PAGES])
def test_every_page_has_its_keys_and_the_words(page: Page, lab: Running, path: str) -> None:
    visit(page, lab.url + path)
    expect(page.locator("main")).to_be_visible()
    expect(page.locator(".brand-cluster")).to_contain_text("MAMS")
    page.locator("main").click(position={"x": 2, "y": 2})
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    own = {"": "Freeze", "namespace": "Rename", "storage-pool": "Take an image", "checkpoints": "Mark"}
    expect(dialog).to_contain_text(own.get(path, "The next button"))
    for word in ("session", "failover", "view", "configuration", "replica group", "journal group"):
        expect(dialog.get_by_test_id("glossary")).to_contain_text(word)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_the_tour_looks_well(browser: Browser, lab: Running) -> None:
    for width, scheme in SIZES:
        context = browser.new_context(
            viewport={"width": width, "height": 860}, color_scheme=scheme, reduced_motion="reduce"
        )
        page = context.new_page()
        opened(page, lab.url)
        expect(page.get_by_test_id("guide")).to_be_visible()
        faultless(page, width, "the first step")
        page.get_by_test_id("guide").get_by_role("button", name="Next").click()
        faultless(page, width, "a step that waits")
        context.close()
