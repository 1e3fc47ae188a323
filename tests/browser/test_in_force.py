"""Faults in force and dragged cards: both stay visible, and can be undone."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.looking import TAKEOVER_MS, active, card, goes_on, opened, standbys
from tests.browser.running import Running


def test_a_slow_disk_is_on_its_card_and_in_the_list_until_it_is_undone(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    goes_on(page, active(page))
    name, other = standbys(page)[:2]
    card(page, name).focus()
    page.keyboard.press("k")
    expect(page.get_by_test_id("toast-done")).to_contain_text("Slowed the disk", timeout=TAKEOVER_MS)
    mark = page.get_by_test_id(f"marks-{name}")
    expect(mark).to_have_text("Slow disk 100 ms", timeout=TAKEOVER_MS)
    page.get_by_test_id(f"card-{other}").focus()
    page.keyboard.press("t")
    expect(page.get_by_test_id(f"marks-{other}")).to_contain_text("60000 ms", timeout=TAKEOVER_MS)

    page.keyboard.press("Space")
    expect(page.get_by_test_id("time")).to_have_attribute("data-state", "frozen")
    expect(mark).to_be_visible()
    page.keyboard.press("Space")

    page.get_by_test_id("faults").click()
    rows = page.locator("[data-testid^=fault-]")
    slow, skewed = rows.filter(has_text=name), rows.filter(has_text=other)
    expect(slow).to_have_count(1)
    expect(skewed).to_have_count(1)
    slow.get_by_role("button", name="Undo").click()
    expect(mark).to_have_count(0)
    expect(slow).to_have_count(0)
    skewed.get_by_role("button", name="Undo").click()
    expect(skewed).to_have_count(0)


def test_the_first_fault_moves_no_control_of_the_header(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    header = page.locator("header.header")
    controls = header.locator("button:not([data-testid=faults])")
    where = "each => each.map(one => [one.getBoundingClientRect().x, one.getBoundingClientRect().y])"
    for size in ({"width": 1440, "height": 900}, {"width": 1440, "height": 1560}):
        page.set_viewport_size(size)
        expect(page.get_by_test_id("faults")).to_have_count(0)
        before = controls.evaluate_all(where)
        card(page, standbys(page)[0]).focus()
        page.keyboard.press("k")
        expect(page.get_by_test_id("faults")).to_be_visible(timeout=TAKEOVER_MS)
        assert controls.evaluate_all(where) == before
        lab.mend()


PLACE = (
    "card => { const {m41, m42} = new DOMMatrix(getComputedStyle(card).transform); return {x: m41, y: m42}; }"
)


def place(page: Page, name: str) -> Any:
    """Where a card is on the stage, once it does not move any more."""
    page.evaluate("Promise.all(document.getAnimations().map(each => each.finished))")
    return card(page, name).evaluate(PLACE)


def test_a_dragged_card_stays_where_it_was_dropped(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    name = standbys(page)[0]
    before = place(page, name)
    box = card(page, name).bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + 30
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 20, y + 24, steps=5)
    page.mouse.up()
    reset = page.get_by_role("button", name="Reset positions")
    expect(reset).to_be_visible()
    dropped = place(page, name)
    assert (round(dropped["x"] - before["x"]), round(dropped["y"] - before["y"])) == (20, 24)
    assert lab.ask("cluster")["links"] == [], "only the island cuts"
    page.reload()
    expect(reset).to_be_visible()
    assert place(page, name) == dropped
    card(page, name).focus()
    page.keyboard.press("Shift+ArrowLeft")
    assert place(page, name)["x"] < dropped["x"]
    reset.click()
    expect(reset).to_have_count(0)
    assert place(page, name) == before


def test_journals_go_to_a_serial_number_and_tell_its_operations(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    name = active(page)
    goes_on(page, name)
    field = page.get_by_label("go to sn")
    field.fill("3")
    field.press("Enter")
    told = page.locator(".journals-told")
    expect(told).to_contain_text("sn 3, epoch 1", timeout=TAKEOVER_MS)
    expect(told).to_contain_text(re.compile(r"\): [a-z]+"))
