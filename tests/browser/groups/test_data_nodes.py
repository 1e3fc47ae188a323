"""Data nodes under the servers: their content, and their faults by mouse and keyboard; barriers where they are written."""

from __future__ import annotations

import json
import re
import urllib.request

from playwright.sync_api import Locator, Page, expect

from tests.browser.looking import card, opened
from tests.browser.running import Running, wait_for


def node(page: Page, name: str) -> Locator:
    return page.get_by_test_id(f"node-{name}")


def put(lab: Running, path: str, size: int) -> None:
    request = lab.request(f"fs/content?path={path}", bytes(size), "PUT")
    urllib.request.urlopen(request, timeout=20).close()


def test_a_data_node_reports_what_it_keeps(page: Page, pair: Running) -> None:
    opened(page, pair.url)
    put(pair, "/kept", 200_000)
    expect(card(page, "dn1")).to_contain_text(re.compile(r"blocks [1-9]"), timeout=15_000)

    def keeps_all() -> bool:
        reported = next(each for each in pair.ask("cluster")["data_nodes"] if each["name"] == "dn1")
        return bool(reported["blocks"] >= 4 and reported["size"] >= 200_000)

    wait_for(keeps_all, 15, "all blocks on dn1")
    expect(node(page, "dn1")).to_have_attribute("data-blocks", re.compile(r"[1-9]"))


def test_its_menu_crashes_and_restarts_it(page: Page, pair: Running) -> None:
    opened(page, pair.url)
    card(page, "dn2").click()
    expect(page.get_by_test_id("verb-expire_session")).to_have_count(0)
    page.get_by_test_id("verb-crash").hover()
    page.get_by_test_id("verb-crash").click()
    expect(node(page, "dn2")).to_have_attribute("data-process", "stopped", timeout=15_000)
    expect(card(page, "dn2")).to_contain_text("stopped")
    servers = len(pair.ask("cluster")["servers"])
    page.keyboard.press(str(servers + 2))
    expect(card(page, "dn2")).to_be_focused()
    page.keyboard.press("r")
    expect(node(page, "dn2")).to_have_attribute("data-process", "running", timeout=15_000)
    page.keyboard.press("ArrowRight")
    expect(card(page, "dn3")).to_be_focused()


def test_a_link_to_a_data_node_is_seen_when_it_is_cut(page: Page, pair: Running) -> None:
    opened(page, pair.url)
    active = pair.group("g1")["active"]
    link = page.locator(f"[data-testid=link-{active}-dn3]")
    expect(link).to_have_count(0)
    pair.do("cut", active, "dn3")
    expect(link).to_have_attribute("data-state", "cut")
    pair.do("heal", active, "dn3")
    expect(link).to_have_count(0)


def test_a_barrier_is_marked_in_the_journals_and_on_the_timeline(page: Page, pair: Running) -> None:
    opened(page, pair.url)
    body = json.dumps({"name": "marked-here"}).encode()
    urllib.request.urlopen(pair.request("checkpoints", body), timeout=20).close()
    expect(page.get_by_test_id("story")).to_contain_text("checkpoint marked-here is complete")
    timeline = page.get_by_test_id("timeline")
    expect(timeline).to_have_attribute("aria-valuetext", re.compile("checkpoints .*marked-here"))
    checkpoints = {each["name"]: each for each in pair.ask("checkpoints")["checkpoints"]}
    sn = checkpoints["marked-here"]["barriers"]["g1"]["sn"]
    run = pair.ask("runs")[0]["run"]
    reported = wait_for(
        lambda: pair.ask(f"runs/{run}/journal?group=g1&from_sn={sn}&to_sn={sn}")["barriers"],
        10,
        "the barrier",
    )
    assert reported == [[sn, "marked-here"]]
