"""Faults by menu, key and drag, on real processes."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.looking import (
    TAKEOVER_MS,
    active,
    card,
    click_link,
    drag_to_island,
    goes_on,
    link_state,
    opened,
    role_is,
    server,
    standbys,
)
from tests.browser.running import Running

WATCH_ROLES = """() => {
  window.seen = {};
  const look = () => document.querySelectorAll("[data-testid^=server-]").forEach(({ dataset }) => {
    const roles = (window.seen[dataset.testid.slice(7)] ??= []);
    if (roles.at(-1) !== dataset.role) roles.push(dataset.role);
  });
  const mirror = document.querySelector("[data-testid=mirror]");
  new MutationObserver(look).observe(mirror, { subtree: true, attributes: true, childList: true });
}"""


def test_the_page_shows_what_the_cluster_says(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    reported = lab.ask("cluster")
    for each in reported["servers"]:
        role_is(page, each["name"], each["role"])
        expect(server(page, each["name"])).to_have_attribute("data-pid", str(each["pid"]))
    for status in reported["invariants"]:
        name = status["invariant"].replace(" ", "-")
        expect(page.get_by_test_id(f"invariant-{name}")).to_have_attribute("data-state", "green")
    goes_on(page, active(page))


def test_a_crashed_active_is_followed_by_a_standby_and_comes_back_as_one(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    old = active(page)
    card(page, old).click()
    page.get_by_test_id("verb-crash").click()
    expect(page.get_by_test_id("toast-done")).to_contain_text(f"Crashed {old}")
    expect(server(page, old)).to_have_attribute("data-process", "stopped")
    role_is(page, old, "down")
    new = active(page)
    assert new != old
    goes_on(page, new)
    epoch = int(server(page, new).get_attribute("data-epoch") or 0)
    assert epoch == lab.ask("cluster")["groups"][0]["epoch"]

    card(page, old).click()
    page.get_by_test_id("verb-restart").click()
    expect(server(page, old)).to_have_attribute("data-process", "running", timeout=TAKEOVER_MS)
    role_is(page, old, "standby")
    story = page.get_by_test_id("story")
    expect(story).to_contain_text(old)
    goes_on(page, old)


def test_a_renewed_server_is_seen_as_a_junior_on_its_way(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    page.evaluate(WATCH_ROLES)
    name = standbys(page)[0]
    lab.do("crash", name)
    role_is(page, name, "down")
    goes_on(page, active(page))
    card(page, name).focus()
    page.keyboard.press("r")
    role_is(page, name, "standby")
    seen = page.evaluate("name => window.seen[name]", name)
    assert seen[-3:] == ["down", "junior", "standby"]


def test_a_cut_link_is_shown_and_healed(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    a, b = active(page), standbys(page)[0]
    click_link(page, a, b)
    page.get_by_test_id("verb-cut").click()
    page.get_by_test_id("do-cut").click()
    expect(link_state(page, a, b)).to_have_attribute("data-state", "cut")
    assert any({rule["a"], rule["b"]} == {a, b} for rule in lab.ask("cluster")["links"])
    page.get_by_role("button", name="Heal", exact=True).first.click()
    expect(link_state(page, a, b)).to_have_attribute("data-state", "open")
    assert lab.ask("cluster")["links"] == []


def test_a_link_can_be_cut_in_one_direction_and_delayed(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    a, b = sorted(standbys(page))[:2]
    click_link(page, a, b)
    page.get_by_test_id("verb-cut").click()
    page.get_by_text(f"to {b}", exact=True).click()
    page.get_by_test_id("do-cut").click()
    expect(link_state(page, a, b)).to_contain_text(f"{a} → {b}")
    click_link(page, "coordination", b)
    page.get_by_test_id("verb-delay").click()
    page.get_by_label("the delay of each message").fill("120")
    page.get_by_test_id("do-delay").click()
    expect(link_state(page, "coordination", b)).to_have_attribute("data-state", "harmed")
    expect(link_state(page, "coordination", b)).to_contain_text("120 ms slower")


def test_a_server_dragged_to_the_island_is_cut_off_and_dragged_back_is_healed(
    page: Page, lab: Running
) -> None:
    opened(page, lab.url)
    name = standbys(page)[-1]
    start = card(page, name).bounding_box()
    drag_to_island(page, name)
    expect(page.get_by_test_id("toast-done")).to_contain_text(f"Cut {name} off from all others")
    role_is(page, name, "down")
    island = page.get_by_test_id("island").bounding_box()
    page.wait_for_function(
        "([name, left]) => document.getElementById(`card-${name}`).getBoundingClientRect().left >= left",
        arg=[name, island["x"] if island else 0],
    )
    box = card(page, name).bounding_box()
    assert box is not None and start is not None
    page.mouse.move(box["x"] + 40, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(start["x"] + 40, start["y"] + 30, steps=12)
    page.mouse.up()
    expect(page.get_by_test_id("toast-done").last).to_contain_text(f"Healed the links of {name}")
    role_is(page, name, "standby")


def test_an_active_that_is_cut_off_serves_no_longer_and_keeps_the_lock(page: Page, patient: Running) -> None:
    opened(page, patient.url)
    name = active(page)
    goes_on(page, name)
    drag_to_island(page, name)
    unserved = page.get_by_test_id("unserved-g1")
    expect(unserved).to_have_text("no server serves", timeout=TAKEOVER_MS)
    expect(page.get_by_test_id(f"kept-{name}")).to_be_visible()
    assert "once the lock is free" in str(unserved.get_attribute("title"))
    role_is(page, name, "down")
    role = card(page, name).locator(".card-role")
    expect(role).to_have_text("says active")
    assert role.evaluate("role => role.scrollWidth <= role.clientWidth"), "the words are whole"
    expect(unserved).to_have_count(0, timeout=TAKEOVER_MS)
    expect(page.get_by_test_id(f"kept-{name}")).to_have_count(0)


def test_servers_in_a_loop_are_cut_off_together(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    names = sorted(lab.ask("cluster")["groups"][0]["configuration"]["members"])[2:4]
    boxes = [card(page, name).bounding_box() for name in names]
    first, last = boxes[0], boxes[-1]
    assert first is not None and last is not None
    left, right = first["x"] - 6, last["x"] + last["width"] + 6
    top, middle = first["y"] - 6, first["y"] + first["height"] / 2
    bottom = first["y"] + first["height"] + 40
    page.mouse.move(left, middle)
    page.mouse.down()
    for x, y in ((left, top), (right, top), (right, bottom), (left, bottom)):
        page.mouse.move(x, y, steps=6)
    page.mouse.up()
    expect(page.get_by_role("toolbar")).to_contain_text(f"{names[0]} and {names[1]}")
    page.keyboard.press("x")
    expect(page.get_by_test_id("toast-done")).to_contain_text(
        f"Cut {names[0]} and {names[1]} off from the rest"
    )
    cut = {frozenset((rule["a"], rule["b"])) for rule in lab.ask("cluster")["links"]}
    assert frozenset((names[0], "coordination")) in cut
    assert frozenset(names) not in cut
    page.get_by_role("button", name="Heal", exact=True).first.click()
    expect(page.locator("[data-state=cut]")).to_have_count(0)


def test_what_is_impossible_is_reported_in_one_line(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    card(page, active(page)).focus()
    page.keyboard.press("u")
    expect(page.get_by_test_id("toast-error")).to_contain_text("is not paused")
