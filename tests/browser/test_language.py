"""The page in another language: chosen in the header, kept, and as readable as in English."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.families.looks import faultless
from tests.browser.looking import PAGES, opened, visit
from tests.browser.running import Running
from tests.browser.test_access import AXE
from tests.chosen import only_full

LOOKS = [(1280, "light"), (400, "dark"), *only_full((1280, "dark"), (400, "light"))]
CHINESE = ("日志", "时间线", "一次写的开销")
"""Headings of the cluster page: journals, timeline, what a write costs."""


def choose(page: Page, language: str) -> None:
    page.get_by_test_id("language").click()
    page.get_by_test_id(f"language-{language}").click()
    expect(page.locator("html")).to_have_attribute("lang", language)


def is_chinese(page: Page) -> None:
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    for heading in CHINESE:
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    expect(page.get_by_test_id("page-cluster")).to_have_text("集群")


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed")
@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_a_person_reads_the_page_in_chinese(browser: Browser, lab: Running, width: int, scheme: Any) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 860}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    opened(page, lab.url)
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.get_by_role("heading", name="Timeline")).to_be_visible()
    choose(page, "zh-CN")
    is_chinese(page)
    faultless(page, width, "the cluster page")
    page.reload()
    is_chinese(page)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="按键和术语")).to_be_visible()
    faultless(page, width, "the help")
    page.keyboard.press("Escape")
    for path in PAGES if scheme == "light" else ():
        visit(page, f"{lab.url}{path}")
        expect(page.locator("main")).to_be_visible()
        expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
        faultless(page, width, path)
    visit(page, lab.url)
    choose(page, "en")
    expect(page.get_by_role("heading", name="Timeline")).to_be_visible()
    context.close()


def test_a_chinese_browser_sees_chinese_at_once(browser: Browser, lab: Running) -> None:
    context = browser.new_context(locale="zh-CN", viewport={"width": 1280, "height": 860})
    page = context.new_page()
    opened(page, lab.url)
    is_chinese(page)
    choose(page, "en")
    page.reload()
    expect(page.get_by_role("heading", name="Timeline")).to_be_visible()
    context.close()
