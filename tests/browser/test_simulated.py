"""A simulated cluster on the page: its clock in the header, and clusters beside it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import looking
from tests.browser.running import Running, living


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Running]:
    with living(Running(tmp_path_factory.mktemp("simulated"), shape=("--on", "simulated"))) as running:
        yield running


@pytest.fixture
def opened(simulated: Running, page: Page) -> Page:
    looking.opened(page, simulated.url)
    expect(page.get_by_test_id("clock-bar")).to_be_visible()
    return page


def virtual_ns(page: Page) -> int:
    return int(page.get_by_test_id("clock-bar").get_attribute("data-ns") or 0)


def playing(page: Page, is_playing: bool) -> None:
    expect(page.get_by_test_id("clock-bar")).to_have_attribute("data-playing", str(is_playing).lower())


def passed(page: Page, since_ns: int) -> None:
    page.wait_for_function(
        "since => Number(document.querySelector('[data-testid=clock-bar]').dataset.ns) > since", arg=since_ns
    )


def test_the_clock_is_paused_stepped_and_played_by_buttons_and_keys(opened: Page, simulated: Running) -> None:
    playing(opened, True)
    passed(opened, virtual_ns(opened))
    opened.get_by_test_id("clock-play").click()
    playing(opened, False)
    stands = simulated.ask("clock")["now_ns"]
    expect(opened.get_by_test_id("clock-bar")).to_have_attribute("data-ns", str(stands))
    opened.get_by_test_id("clock-step-message").click()
    passed(opened, stands)
    stepped = simulated.ask("clock")["now_ns"]
    expect(opened.get_by_test_id("clock-bar")).to_have_attribute("data-ns", str(stepped))
    assert stands < stepped < stands + 10**9
    opened.locator("body").click(position={"x": 2, "y": 2})
    opened.keyboard.press(".")
    passed(opened, stepped)
    assert not simulated.ask("clock")["playing"]
    opened.keyboard.press(" ")
    playing(opened, True)
    passed(opened, stepped + 10**8)


def test_the_speed_is_a_slider(opened: Page, simulated: Running) -> None:
    opened.get_by_test_id("clock-speed").click()
    opened.get_by_role("slider", name="Speed of virtual time").focus()
    opened.keyboard.press("End")
    expect(opened.get_by_test_id("clock-speed")).to_contain_text("1000")
    assert simulated.ask("clock")["speed"] == 1000
    opened.keyboard.press("Home")
    expect(opened.get_by_test_id("clock-speed")).to_contain_text("0.1")
    opened.keyboard.press("Escape")


def test_a_fault_of_a_paused_cluster_waits_for_the_clock(opened: Page, simulated: Running) -> None:
    simulated.post("clock", {"playing": False, "speed": 1})
    playing(opened, False)
    looking.card(opened, "mds2").click()
    opened.get_by_test_id("verb-crash").click()
    expect(looking.server(opened, "mds2")).to_have_attribute("data-process", "stopped")
    assert not simulated.ask("clock")["playing"]
    simulated.post("clock", {"playing": True, "speed": 10})
    simulated.mend()
    simulated.post("clock", {"speed": 1})


def test_the_clock_runs_until_a_condition_an_event_or_an_instant(opened: Page, simulated: Running) -> None:
    until, failed, met = (opened.get_by_test_id(each) for each in ("until", "until-failed", "clock-met"))

    def run_until(text: str) -> None:
        until.click()
        opened.get_by_test_id("until-text").fill(text)
        opened.keyboard.press("Enter")

    simulated.mend()
    simulated.post("clock", {"playing": False, "speed": 10})
    playing(opened, False)
    run_until("settled")
    expect(failed).to_have_text("holds already: settled")
    for text, line in (
        ("happy", "is not a condition"),
        ("1", "1 s is over"),
        ("Servng", "did you mean Serving?"),
    ):
        opened.get_by_test_id("until-text").fill(text)
        opened.keyboard.press("Enter")
        expect(failed).to_contain_text(line)
    opened.keyboard.press("Escape")
    expect(until).to_be_focused()
    playing(opened, False)

    name = looking.active(opened)
    simulated.do("crash", name)
    until.click()
    opened.get_by_role("button", name="active of g1 serves").click()
    expect(met).to_have_text("paused: active of g1 serves", timeout=looking.TAKEOVER_MS)
    playing(opened, False)
    assert looking.active(opened) != name

    run_until("9 standbys in g1")
    expect(until).to_contain_text("until 9 standbys in g1")
    playing(opened, True)
    opened.get_by_test_id("clock-play").click()
    playing(opened, False)
    expect(until).to_contain_text("Run until…")
    expect(met).to_be_empty()

    opened.keyboard.press("Control+k")
    expect(opened.get_by_role("combobox", name="Command")).to_be_focused()
    opened.keyboard.type("run until")
    opened.keyboard.press("Enter")
    expect(opened.get_by_test_id("until-text")).to_be_focused()
    second = simulated.ask("clock")["now_ns"] // 10**9 + 5
    opened.keyboard.type(str(second))
    opened.keyboard.press("Enter")
    expect(met).to_have_text(f"paused: {second} s")
    assert simulated.ask("clock")["now_ns"] == second * 10**9
    simulated.post("clock", {"playing": True, "speed": 10})
    simulated.mend()
    simulated.post("clock", {"speed": 1})


def test_a_cluster_is_created_shown_and_deleted(opened: Page, simulated: Running) -> None:
    opened.get_by_test_id("clusters").click()
    opened.get_by_test_id("cluster-new").click()
    opened.wait_for_url("**/?cluster=sim1")
    expect(opened.get_by_test_id("clusters")).to_have_attribute("data-cluster", "sim1")
    playing(opened, True)
    opened.get_by_test_id("clock-play").click()
    playing(opened, False)
    assert simulated.ask("clock")["playing"]
    opened.get_by_test_id("page-namespace").click()
    opened.wait_for_url("**/namespace?cluster=sim1")
    opened.get_by_test_id("clusters").click()
    opened.get_by_test_id("cluster-delete").click()
    opened.get_by_test_id("do-cluster-delete").click()
    opened.wait_for_url(lambda url: "cluster=" not in url)
    expect(opened.get_by_test_id("clusters")).to_have_attribute("data-cluster", "main")
    assert [each["name"] for each in simulated.ask("clusters")] == ["main"]


def test_real_servers_have_no_clock_bar(lab: Running, page: Page) -> None:
    looking.opened(page, lab.url)
    expect(page.get_by_test_id("clusters")).to_contain_text("on processes")
    expect(page.get_by_test_id("clock-bar")).to_have_count(0)


def test_real_servers_are_waited_for(lab: Running, page: Page) -> None:
    looking.opened(page, lab.url)
    lab.mend()
    until = page.get_by_test_id("until")
    until.click()
    page.get_by_role("button", name="settled").click()
    expect(page.get_by_test_id("until-failed")).to_have_text("holds already: settled")
    page.get_by_test_id("until-text").fill("mds2 is down")
    page.keyboard.press("Enter")
    expect(until).to_contain_text("waiting until mds2 is down")
    lab.do("crash", "mds2")
    held = page.get_by_test_id("until-held")
    expect(held).to_contain_text("mds2 is down after", timeout=looking.TAKEOVER_MS)
    held.get_by_role("link").click()
    page.wait_for_url("**at=*")
    expect(looking.server(page, "mds2")).to_have_attribute("data-role", "down")
    page.get_by_test_id("until-stop").click()
    expect(held).to_be_empty()
    lab.mend()
