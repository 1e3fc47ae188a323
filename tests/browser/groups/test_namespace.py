"""The namespace page: by mouse, by keyboard, and after errors."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.looking import visit
from tests.browser.running import Running
from tests.browser.test_access import AXE, violations


def row(page: Page, path: str) -> Locator:
    return page.get_by_test_id(f"name-{path}")


def at(page: Page, lab: Running, path: str) -> None:
    """Opens the page at an existing path."""
    visit(page, f"{lab.url}namespace?path={quote(path)}")
    expect(row(page, path)).to_have_attribute("aria-selected", "true")


def names(lab: Running, path: str) -> dict[str, Any]:
    return {entry["name"]: entry for entry in lab.ask(f"fs/list?path={quote(path)}")["entries"]}


def test_the_tree_shows_homes_and_branch_points(page: Page, pair: Running) -> None:
    visit(page, pair.url)
    page.get_by_test_id("page-namespace").click()
    expect(row(page, "/work")).to_be_visible()
    row(page, "/work").click()
    reported = names(pair, "/work")
    assert {entry["home"] for entry in reported.values()} == {"g1", "g2"}
    for name, entry in reported.items():
        shown = row(page, f"/work/{name}")
        expect(shown).to_contain_text(entry["home"])
        expect(shown.get_by_text("branch point")).to_have_count(1 if entry["branch_point"] else 0)
    page.wait_for_function("() => location.pathname + location.search === '/namespace?path=/work'")
    page.reload()
    expect(row(page, f"/work/{next(iter(reported))}")).to_be_visible()
    page.go_back()
    expect(page.get_by_test_id("mirror")).to_be_attached()


def test_a_directory_is_made_renamed_and_deleted_by_mouse(page: Page, pair: Running) -> None:
    at(page, pair, "/")
    page.get_by_test_id("act-make").click()
    page.get_by_label("Name", exact=True).fill("by mouse")
    page.get_by_test_id("do-make").click()
    expect(row(page, "/by mouse")).to_have_attribute("aria-selected", "true")
    home = names(pair, "/")["by mouse"]["home"]
    expect(page.get_by_test_id("toast-done")).to_contain_text(f"Created /by mouse, kept by {home}")

    page.get_by_test_id("act-make").click()
    page.get_by_label("Name", exact=True).fill("below")
    page.get_by_test_id("do-make").click()
    expect(row(page, "/by mouse/below")).to_be_visible()
    row(page, "/by mouse").click()
    page.get_by_test_id("act-rename").click()
    page.get_by_label("New path").fill("/moved")
    page.get_by_test_id("do-rename").click()
    expect(row(page, "/moved")).to_have_attribute("aria-selected", "true")
    expect(row(page, "/by mouse")).to_have_count(0)

    page.get_by_test_id("act-delete").click()
    expect(page.get_by_role("dialog")).to_contain_text("with the 1 name in it and everything below")
    page.get_by_test_id("do-delete").click()
    expect(row(page, "/moved")).to_have_count(0)
    assert "moved" not in names(pair, "/")


def test_the_keyboard_alone_does_the_same(page: Page, pair: Running) -> None:
    at(page, pair, "/")
    row(page, "/").focus()
    page.keyboard.press("n")
    page.keyboard.type("keys")
    page.keyboard.press("Enter")
    expect(row(page, "/keys")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_test_id("empty-/keys")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(row(page, "/keys")).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("m")
    page.keyboard.press("End")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    expect(row(page, "/keys2")).to_be_focused()
    page.keyboard.press("d")
    expect(page.get_by_role("button", name="Leave it")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(row(page, "/keys2")).to_be_focused()
    page.keyboard.press("Delete")
    expect(page.get_by_role("button", name="Leave it")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(row(page, "/keys2")).to_have_count(0)
    expect(row(page, "/")).to_be_focused()


def test_what_is_wrong_is_said_where_it_was_asked(page: Page, pair: Running) -> None:
    visit(page, f"{pair.url}namespace?path=/work/nothing")
    expect(page.get_by_test_id("missing")).to_contain_text("There is no /work/nothing")
    at(page, pair, "/")
    page.get_by_test_id("act-make").click()
    page.get_by_label("Name", exact=True).fill("work")
    page.get_by_test_id("do-make").click()
    expect(page.get_by_test_id("act-failed")).to_contain_text("EEXIST")
    page.keyboard.press("Escape")
    page.route("**/api/fs/list**", lambda route: route.abort())
    row(page, "/work").click()
    failed = page.get_by_test_id("failed-/work")
    expect(failed).to_contain_text("the control plane does not answer")
    page.unroute("**/api/fs/list**")
    failed.click()
    expect(row(page, "/work/d0")).to_be_visible()


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed")
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_axe_finds_nothing_on_the_namespace_page(
    browser: Browser, pair: Running, width: int, scheme: Any
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    at(page, pair, "/work")
    expect(row(page, "/work/d0")).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_test_id("act-delete").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == []
    context.close()
