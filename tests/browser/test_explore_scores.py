"""The mutation scores on the page Explore: before and after a measurement, a damaged file, the choice of a bug, and their looks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from backend.places import bug_scores_file
from backend.searches.scores import BugScore, keep_score
from nodes.explore.bugs import bugs
from tests.browser.families.looks import faultless
from tests.browser.looking import visit
from tests.browser.running import Running, living
from tests.browser.test_access import AXE
from tests.chosen import only_full

LOOKS = [(400, "light"), (1920, "dark"), *only_full((400, "dark"), (1920, "light"))]
FOUND = BugScore("mams", "linearisable", 5.8, 27, 60.0, 2, "1.0", 1_750_000_000.0)
SLOW = BugScore("mams", "no lost write", 41.2, 311, 60.0, 2, "1.0", 1_750_000_100.0)
MISSED = BugScore("mams", "", 60.3, 455, 60.0, 2, "1.0", 1_750_000_200.0)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A control plane with a data directory of its own."""
    directory = tmp_path_factory.mktemp("scores")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(directory / "share"))
        with living(Running(directory, shape=("--on", "simulated"))) as running:
            yield running


@pytest.fixture(autouse=True)
def nothing_kept(measured: Running) -> Iterator[None]:
    yield
    bug_scores_file().unlink(missing_ok=True)


def keep_three() -> None:
    keep_score("no_fencing", FOUND)
    keep_score("off_by_one_quorum", SLOW)
    keep_score("reads_before_flush", MISSED)


def test_without_a_measurement_the_page_names_the_command(page: Page, measured: Running) -> None:
    visit(page, f"{measured.url}explore")
    none = page.get_by_test_id("scores-none")
    expect(none).to_contain_text(f"None of the {len(bugs())} known bugs")
    expect(none).to_contain_text("./cloverlab bench explore bugs")
    expect(page.get_by_test_id("scores").get_by_role("table")).to_have_count(0)


def test_the_scores_are_those_that_were_measured(page: Page, measured: Running) -> None:
    keep_three()
    visit(page, f"{measured.url}explore")
    figures = page.get_by_test_id("scores-figures")
    for text in ("2 of 3 measured", "66 %", "Slowest: off_by_one_quorum", "41.2 s", str(len(bugs()) - 3)):
        expect(figures).to_contain_text(text)
    expect(page.get_by_test_id("scores-measured")).to_contain_text("for at most 60 s")
    rows = page.locator("[data-testid^=score-]")
    expect(rows).to_have_count(len(bugs()))
    expect(rows.first).to_contain_text("not found within 60 s")
    found = page.get_by_test_id("score-no_fencing")
    for text in ("A server never stops serving", "mams", "linearisable", "after 5.8 s", "27 seeds"):
        expect(found).to_contain_text(text)
    expect(page.get_by_test_id("score-late_watch")).to_contain_text("not measured here")
    page.get_by_test_id("scores-shown").select_option("found")
    expect(rows).to_have_count(2)
    page.get_by_test_id("scores-order").select_option("name")
    expect(rows.first).to_have_attribute("data-testid", "score-no_fencing")


def test_a_row_chooses_its_bug_by_a_click_or_the_keyboard(page: Page, measured: Running) -> None:
    keep_three()
    visit(page, f"{measured.url}explore")
    chosen = page.get_by_test_id("explore-bug")
    row = page.get_by_test_id("score-no_fencing")
    row.get_by_text("27 seeds").click(force=True)
    expect(chosen).to_have_value("no_fencing")
    expect(chosen).to_be_focused()
    expect(chosen).to_be_in_viewport()
    expect(row).to_have_attribute("data-chosen", "true")
    page.get_by_test_id("score-rot_revives_alone").get_by_role("button").press("Enter")
    expect(chosen).to_have_value("rot_revives_alone")
    expect(page.get_by_test_id("explore-family")).to_have_value("symmetric")


def test_a_damaged_file_is_reported_and_the_search_stays_possible(page: Page, measured: Running) -> None:
    bug_scores_file().parent.mkdir(parents=True, exist_ok=True)
    bug_scores_file().write_text("{")
    visit(page, f"{measured.url}explore")
    expect(page.get_by_test_id("scores-failed")).to_contain_text("run ./cloverlab bench explore bugs again")
    expect(page.get_by_test_id("scores-none")).to_have_count(0)
    expect(page.get_by_test_id("explore-start")).to_be_enabled()


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed")
@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_nothing_is_wrong_at_any_size_in_light_and_dark(
    browser: Browser, measured: Running, width: int, scheme: Any
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    visit(page, f"{measured.url}explore")
    expect(page.get_by_test_id("scores-none")).to_be_visible()
    faultless(page, width, f"nothing measured {width} {scheme}")
    keep_three()
    page.reload()
    page.get_by_test_id("score-reads_before_flush").get_by_role("button").click()
    faultless(page, width, f"scores {width} {scheme}")
    context.close()
