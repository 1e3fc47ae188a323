"""Layout of every page of a cluster: no overflow, no unreadable text, no message on the console."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, Page, expect

from tests.browser.looking import PAGES, opened, visit
from tests.browser.running import Running
from tests.browser.test_access import violations

SIZES: list[tuple[int, Any]] = [(1280, "light"), (400, "dark")]
OTHERS = (*PAGES, "class")


def looks_well(browser: Browser, running: Running, called: str) -> None:
    """`called` is the family's name on the page."""
    for width, scheme in SIZES:
        context = browser.new_context(
            viewport={"width": width, "height": 860}, color_scheme=scheme, reduced_motion="reduce"
        )
        page, said = context.new_page(), list[str]()
        page.on("console", lambda line, said=said: said.append(line.text) if line.type == "error" else None)
        opened(page, running.url)
        expect(page.locator(".brand-cluster")).to_contain_text(f"{called} on processes")
        reports_costs(page)
        faultless(page, width, "the cluster page")
        for path in OTHERS if width == SIZES[-1][0] else ():
            visit(page, f"{running.url}{path}")
            expect(page.locator(".brand-cluster")).to_contain_text(called)
            expect(page.locator("main")).to_be_visible()
            faultless(page, width, path)
        assert said == []
        context.close()


def reports_costs(page: Page) -> None:
    """The page shows figures of this cluster, and the kinds of messages that a write needs."""
    costs = page.get_by_test_id("costs")
    expect(costs.get_by_test_id("cost-log-writes")).to_contain_text(".", timeout=20_000)
    if costs.get_by_test_id("cost-messages").count():
        first = costs.locator("[data-testid^=sent-]").first
        assert int(first.get_attribute("data-messages") or 0) > 0
    else:
        expect(costs.locator("table")).to_have_count(0)


def faultless(page: Page, width: int, where: str) -> None:
    assert violations(page) == [], where
    assert page.evaluate("document.documentElement.scrollWidth") <= width, where
