"""Two replica groups: each group's data is beside the group, and messages between groups are visible."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.looking import card, opened
from tests.browser.running import Running, wait_for


def journals(page: Page, group: str) -> Locator:
    return page.locator(f"[data-testid=journals][data-group={group}]")


def figure(locator: Locator) -> int:
    return int(str(locator.text_content()).replace(",", ""))


def shows_a_count(page: Page, pair: Running, group: str) -> None:
    """Waits until the page shows a count of objects that the group has reported meanwhile. The load removes objects, too."""
    counted: set[int] = set()

    def shown() -> bool:
        counted.add(pair.group(group)["counters"]["objects"])
        return figure(page.get_by_test_id(f"objects-{group}")) in counted

    wait_for(shown, 10, f"the objects of {group} on the page")


def test_each_group_has_journals_of_its_own(page: Page, pair: Running) -> None:
    opened(page, pair.url)
    for group in ("g1", "g2"):
        wait_for(lambda group=group: pair.group(group)["commit_sn"] > 60, 20, f"commits in {group}")
        last = pair.group(group)["commit_sn"]
        expect(journals(page, group)).to_have_attribute("data-commit-sn", re.compile(r"\d"))
        wait_for(
            lambda group=group, last=last: int(journals(page, group).get_attribute("data-commit-sn")) >= last,
            10,
            f"the journals of {group} up to {last}",
        )
        reported = pair.ask(f"runs/1/journal?group={group}&from_sn=1&to_sn=60")
        members = pair.group(group)["configuration"]["members"]
        assert sorted(row["name"] for row in reported["servers"]) == sorted(members)
        assert {cell[3] for row in reported["servers"] for cell in row["cells"]} <= {"p", "c", "a"}

    second = journals(page, "g2")
    second.scroll_into_view_if_needed()
    box = second.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.4)
    block = page.get_by_role("region", name="Journals of g2")
    expect(block.get_by_test_id("record")).to_be_visible()
    expect(page.get_by_role("region", name="Journals of g1").get_by_test_id("record")).to_have_count(0)


def test_a_failover_names_its_group(page: Page, pair: Running) -> None:
    opened(page, pair.url)
    old = pair.group("g2")["active"]
    epoch = pair.group("g1")["epoch"]
    before = len(pair.ask("runs/1/timeline?buckets=1")["failovers"])
    pair.do("crash", old)
    found = wait_for(lambda: pair.ask("runs/1/timeline?buckets=1")["failovers"][before:], 30, "a failover")
    assert [(split["group"], split["old"]) for split in found] == [("g2", old)]
    reported = f"g2: {old} → {found[0]['new']}"
    expect(page.get_by_test_id("failovers")).to_contain_text(reported, timeout=15_000)
    assert pair.group("g1")["epoch"] == epoch
    spoken = page.get_by_test_id("timeline").get_attribute("aria-valuetext") or ""
    assert f"{old} of g2" in spoken and f"{pair.group('g1')['active']} of g1" in spoken


def test_what_goes_between_the_groups_is_drawn_and_counted(page: Page, pair: Running) -> None:
    opened(page, pair.url)
    expect(page.get_by_label("Messages by colour")).to_contain_text("between groups")
    a, b = (pair.group(group)["active"] for group in ("g1", "g2"))
    bridge = page.locator(f"[data-testid=link-{a}-{b}], [data-testid=link-{b}-{a}]")
    expect(bridge).to_have_class(re.compile("link-between"), timeout=15_000)
    for group in ("g1", "g2"):
        counters = wait_for(lambda group=group: pair.group(group)["counters"], 10, f"counters of {group}")
        assert counters["objects"] > 1 and counters["sent"] >= counters["done"] > 0
        shows_a_count(page, pair, group)
        expect(page.get_by_test_id(f"branch-points-{group}")).to_have_text(re.compile(r"\d"))
        expect(page.get_by_test_id(f"open-{group}")).to_have_text(re.compile(r"\d"))
    pair.do("cut", a, b)
    expect(bridge).to_have_attribute("data-state", "cut")
    pair.do("heal", a, b)
    expect(card(page, a)).to_be_visible()
