"""The page of labs: the first lab as a student, from the list to the verdict; a wrong prediction; hints; a reload."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.families.looks import faultless
from tests.browser.looking import TAKEOVER_MS, active, card, visit
from tests.browser.running import Running, living
from tests.browser.test_access import AXE
from tests.chosen import only_full

LAB = "what-is-a-standby"
PROJECTOR, PHONE = (1024, 768), (400, 800)
LOOKS = [(PROJECTOR, "dark"), (PHONE, "light"), *only_full((PROJECTOR, "light"), (PHONE, "dark"))]


@pytest.fixture(scope="module")
def labs(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Running]:
    """A control plane whose students' progress is its own."""
    directory = tmp_path_factory.mktemp("labs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(directory / "share"))
        with living(Running(directory, shape=("--on", "simulated"))) as running:
            yield running


def begun(page: Page, labs: Running, student: str) -> None:
    """The first lab, found in the list and started."""
    visit(page, labs.url + "labs")
    page.get_by_test_id(f"lab-{LAB}").get_by_role("link").click()
    expect(page.get_by_role("heading", name="What is a standby?")).to_be_visible()
    page.get_by_test_id("student").fill(student)
    page.get_by_test_id("start-lab").click()
    expect(page.get_by_test_id("verdict")).to_have_attribute("data-phase", "predict")
    active(page)


def predicted(page: Page, session_s: float, standbys: int) -> None:
    page.get_by_test_id("answer-how-long").fill(str(session_s))
    page.get_by_test_id("answer-standbys-left").fill(str(standbys))
    page.get_by_test_id("answer-failed-calls-0").check()
    page.get_by_test_id("go").click()
    expect(page.get_by_test_id("verdict")).to_have_attribute("data-phase", "run")


def state(page: Page, step: str) -> Any:
    return page.get_by_test_id(f"step-{step}")


def crashed(page: Page) -> None:
    """Crashes the active by its key, and waits until every check is ticked off."""
    card(page, active(page)).focus()
    page.keyboard.press("c")
    expect(state(page, "nothing-lost")).to_have_attribute("data-state", "passed", timeout=TAKEOVER_MS)


def session_of(labs: Running, student: str) -> int:
    session: int = labs.ask(f"labs/{LAB}?student={student}")["numbers"]["session"]
    return session


def test_a_student_passes_the_first_lab(page: Page, labs: Running) -> None:
    begun(page, labs, "ada")
    card(page, active(page)).focus()
    page.keyboard.press("c")
    expect(page.locator(".toasts")).to_contain_text("predict first")
    predicted(page, session_of(labs, "ada") - 0.5, 2)
    expect(page.get_by_test_id("said-failed-calls")).to_contain_text("each call returns in the end")
    crashed(page)
    page.reload()
    expect(state(page, "nothing-lost")).to_have_attribute("data-state", "passed")
    page.get_by_test_id("go").click()
    verdict = page.get_by_test_id("verdict")
    expect(verdict).to_have_text("Passed: every prediction and every check.")
    expect(state(page, "how-long")).to_contain_text("The crash itself tells nothing to the others")
    page.get_by_test_id("page-labs").click()
    expect(page.get_by_test_id(f"lab-{LAB}")).to_contain_text("passed")


def test_a_wrong_prediction_is_said_and_the_lab_can_be_done_again(page: Page, labs: Running) -> None:
    begun(page, labs, "eve")
    predicted(page, session_of(labs, "eve") - 0.5, 3)
    crashed(page)
    page.get_by_test_id("go").click()
    expect(page.get_by_test_id("verdict")).to_have_text("5 of 6 steps passed.")
    expect(state(page, "standbys-left")).to_have_attribute("data-state", "failed")
    expect(page.get_by_test_id("seen-standbys-left")).to_have_text("2 standbys; you said 3")
    before = page.url
    page.get_by_test_id("go").click()
    expect(page.get_by_test_id("verdict")).to_have_attribute("data-phase", "predict")
    assert page.url != before
    visit(page, before)
    expect(page.get_by_test_id("attempt-gone")).to_be_visible()


def test_hints_come_one_at_a_time_and_survive_a_reload(page: Page, labs: Running) -> None:
    begun(page, labs, "kim")
    hints = page.get_by_test_id("hint-how-long")
    expect(hints).to_have_count(0)
    page.get_by_test_id("ask-how-long").click()
    expect(hints).to_have_count(1)
    page.reload()
    expect(hints).to_have_count(1)
    page.get_by_test_id("ask-how-long").press("Enter")
    expect(hints).to_have_count(2)
    expect(page.get_by_test_id("ask-how-long")).to_have_count(0)


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed")
@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_axe_finds_nothing_on_a_lab(
    browser: Browser, labs: Running, scheme: Any, size: tuple[int, int]
) -> None:
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    visit(page, labs.url + f"labs/{LAB}")
    expect(page.get_by_test_id("student")).to_be_visible()
    faultless(page, width, "a lab before its start")
    page.get_by_test_id("student").fill("axe")
    page.get_by_test_id("start-lab").click()
    expect(page.get_by_test_id("verdict")).to_have_attribute("data-phase", "predict")
    active(page)
    page.get_by_test_id("ask-how-long").click()
    expect(page.get_by_test_id("hint-how-long")).to_be_visible()
    faultless(page, width, "a lab with its questions")
    predicted(page, 1.0, 3)
    page.get_by_test_id("go").click()
    expect(page.get_by_test_id("verdict")).to_have_attribute("data-phase", "over")
    faultless(page, width, "a lab with its verdict")
    context.close()


def test_an_open_attempt_goes_on_after_a_new_start(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    running = Running(tmp_path, shape=("--on", "simulated"))
    try:
        running.start()
        begun(page, running, "ada")
        predicted(page, session_of(running, "ada") - 0.5, 2)
        crashed(page)
        before = page.url
        running.stop()
        running.start()
        page.wait_for_url(lambda url: url != before)
        expect(state(page, "nothing-lost")).to_have_attribute("data-state", "passed", timeout=TAKEOVER_MS)
        page.get_by_test_id("go").click()
        expect(page.get_by_test_id("verdict")).to_have_text("Passed: every prediction and every check.")
    finally:
        running.stop()
