"""The coordination page: the tree as it is, its sessions, and why it changed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.looking import TAKEOVER_MS, visit
from tests.browser.running import Running, wait_for
from tests.browser.test_access import AXE, violations

LOCK = "/cloverlab/groups/g1/lock"


def opened(page: Page, lab: Running) -> None:
    visit(page, f"{lab.url}coordination")
    expect(page.get_by_test_id(f"znode-{LOCK}")).to_be_visible()


def test_the_lock_moves_and_the_page_says_who_holds_it_and_why(page: Page, lab: Running) -> None:
    visit(page, lab.url)
    page.get_by_test_id("page-coordination").click()
    lock, node = page.get_by_test_id("lock-g1"), page.get_by_test_id(f"znode-{LOCK}")
    before = lab.group("g1")["lock_owner"]
    expect(lock).to_have_attribute("data-holder", before)
    expect(lock).to_contain_text(f"{before} holds the lock")
    expect(node).to_have_attribute("data-owner", before)

    lab.do("take_lock", "g1")
    expect(lock).not_to_have_attribute("data-holder", re.compile(f"^({before})?$"), timeout=TAKEOVER_MS)
    after = lock.get_attribute("data-holder")
    wait_for(
        lambda: lab.group("g1")["lock_owner"] == after, 5, "the API names the holder that the page names"
    )
    expect(lock).to_contain_text(f"{after} holds the lock")
    expect(node).to_have_attribute("data-owner", after)
    expect(node).to_contain_text(f"session of {after}")
    why = page.get_by_test_id("why-g1")
    expect(why).to_contain_text(f"take_lock g1 {before}")
    expect(why).to_contain_text("reads the draws of g1")
    expect(why.get_by_role("listitem").last).to_contain_text(f"the lock of g1 is held by {after}")
    expect(page.get_by_test_id("changes")).to_contain_text("Goes back to: fault")

    why.get_by_role("link").last.click()
    expect(page.get_by_test_id("time")).to_have_attribute("data-state", "frozen")
    expect(page).to_have_url(re.compile(r"/\?run=\d+&at=\d+$"))


def test_sessions_name_their_servers_nodes_and_watches(page: Page, lab: Running) -> None:
    opened(page, lab)
    for server in lab.ask("cluster")["servers"]:
        session = page.get_by_test_id(f"session-{server['name']}")
        expect(session).to_contain_text(f"/cloverlab/groups/g1/view/{server['name']}")
        expect(session).to_contain_text(re.compile(r"watches [1-9]\d* node"))
        expect(session).to_have_attribute("data-connected", "true")
        expect(page.get_by_test_id(f"znode-{LOCK}")).to_contain_text(
            re.compile(rf"watched by .*{server['name']}")
        )
    expect(page.get_by_test_id("sessions-unknown")).to_have_count(0)


def test_a_crashed_holder_keeps_its_lock_until_its_session_ends(page: Page, patient: Running) -> None:
    opened(page, patient)
    holder = patient.group("g1")["lock_owner"]
    session = page.get_by_test_id(f"session-{holder}")
    patient.do("crash", holder)
    expect(session).to_have_attribute("data-connected", "false")
    expect(session).to_contain_text("its nodes stay until it ends")
    expect(session).to_contain_text(LOCK)
    expect(session).to_have_count(0, timeout=TAKEOVER_MS)
    changes = page.get_by_test_id("changes")
    expect(changes).to_contain_text(f"the session of {holder} has expired")
    expect(changes).to_contain_text(f"crash {holder}")


def test_a_service_that_does_not_answer_is_named_and_followed_again(page: Page, lab: Running) -> None:
    opened(page, lab)
    tree = page.get_by_role("region", name="Tree")
    lab.do("crash", "coordination")
    try:
        expect(tree.get_by_role("alert")).to_contain_text("coordination does not answer")
        expect(tree).to_contain_text("as it was read last")
        expect(page.get_by_test_id(f"znode-{LOCK}")).to_be_visible()
    finally:
        lab.do("restart", "coordination")
    expect(tree.get_by_role("alert")).to_have_count(0, timeout=TAKEOVER_MS)


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed")
@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (400, "light")])
def test_axe_finds_nothing_on_the_coordination_page(
    browser: Browser, lab: Running, width: int, scheme: Any
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    opened(page, lab)
    page.locator("summary").first.click()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()
