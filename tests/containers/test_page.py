"""The page against containers: the tests of the page on processes, and the parts that only containers have."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.looking import TAKEOVER_MS, active, card, goes_on, opened, role_is, server
from tests.browser.test_faults import (  # noqa: F401
    test_a_crashed_active_is_followed_by_a_standby_and_comes_back_as_one,
    test_a_cut_link_is_shown_and_healed,
    test_a_server_dragged_to_the_island_is_cut_off_and_dragged_back_is_healed,
    test_what_is_impossible_is_reported_in_one_line,
)
from tests.containers.running import Composed


def test_the_page_shows_roles_and_processes(page: Page, lab: Composed) -> None:
    opened(page, lab.url)
    for each in lab.ask("cluster")["servers"]:
        role_is(page, each["name"], each["role"])
        expect(server(page, each["name"])).to_have_attribute("data-pid", str(each["pid"]))
    for group in ("g1", "g2"):
        goes_on(page, active(page, group))
        expect(page.locator(f"[data-testid=journals][data-group={group}]")).to_have_attribute(
            "data-commit-sn", re.compile(r"\d")
        )


def test_a_server_shows_its_container_image_and_address(page: Page, lab: Composed) -> None:
    opened(page, lab.url)
    reported = lab.server("mds1")
    assert reported["container"] == lab.container("mds1")[:12] and reported["image"] == "cloverlab:1"
    expect(card(page, "mds1")).to_contain_text(reported["container"][:6])
    card(page, "mds1").click()
    menu = page.get_by_role("dialog", name="mds1")
    for word in ("container", "image", "address"):
        expect(menu).to_contain_text(reported[word])


def test_an_ensemble_that_loses_its_quorum_says_so_and_its_active_answers_nobody(
    page: Page, lab: Composed
) -> None:
    opened(page, lab.url)
    name = active(page)
    for zookeeper in ("zk1", "zk2"):
        page.get_by_test_id(f"ensemble-{zookeeper}").click()
        page.get_by_test_id("verb-crash").click()
        expect(page.get_by_test_id(f"ensemble-{zookeeper}")).to_have_attribute("data-process", "stopped")
    expect(page.get_by_test_id("ensemble")).to_contain_text("no quorum")
    expect(server(page, name)).to_contain_text("serves no client", timeout=TAKEOVER_MS)
    for zookeeper in ("zk1", "zk2"):
        page.get_by_test_id(f"ensemble-{zookeeper}").click()
        page.get_by_test_id("verb-restart").click()
    expect(page.get_by_test_id("ensemble")).to_have_attribute("data-quorum", "true", timeout=TAKEOVER_MS)
    goes_on(page, active(page))


def test_the_page_says_that_it_shows_containers(page: Page, lab: Composed) -> None:
    opened(page, lab.url)
    expect(page.locator("header.header")).to_contain_text("containers")
