"""The link that `up` prints, in a browser."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from backend.key import key_of, link
from tests.browser.running import START_S, Running, wait_for


def test_the_link_opens_the_page_and_leaves_no_key_in_its_address(page: Page, lab: Running) -> None:
    printed, log = link(lab.port, key_of(lab.port)), lab.directory / "up.log"
    wait_for(lambda: printed in log.read_text(), START_S, "the link in the output of up")
    page.goto(lab.url)
    expect(page.get_by_role("heading")).to_have_text("This page needs its key")
    page.goto(printed)
    expect(page.get_by_test_id("mirror")).to_have_attribute("data-connection", "live")
    assert page.url == lab.url
    assert page.evaluate("document.cookie") == "", "no script reads the key"
    page.reload()
    expect(page.get_by_test_id("mirror")).to_have_attribute("data-connection", "live")
