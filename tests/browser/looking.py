"""Steps and observations of a person at the page, as far as tests can repeat them."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, expect

from backend.key import key_of

TAKEOVER_MS = 20_000
PAGES = (
    "namespace",
    "storage-pool",
    "checkpoints",
    "coordination",
    "scenarios",
    "compare",
    "explore",
    "papers",
)
"""Addresses of the pages beside that of the cluster; labs and classes have tests of their own."""

ON_LINK = """([a, b]) => {
  const found = document.querySelector(`[data-testid="link-${a}-${b}"] .link-touch`)
    ?? document.querySelector(`[data-testid="link-${b}-${a}"] .link-touch`);
  const [matrix, length] = [found.getScreenCTM(), found.getTotalLength()];
  for (let share = 0.05; share < 1; share += 0.025) {
    const point = found.getPointAtLength(length * share).matrixTransform(matrix);
    if (document.elementFromPoint(point.x, point.y) === found) return [point.x, point.y];
  }
  return null;
}"""


def visit(page: Page, url: str) -> None:
    """Goes to an address with the cookie that the link of `up` would set."""
    address = urlsplit(url)
    port, root = address.port or 80, f"{address.scheme}://{address.netloc}/"
    page.context.add_cookies([{"name": f"cloverlab-key-{port}", "value": key_of(port), "url": root}])
    page.goto(url)


def opened(page: Page, url: str) -> None:
    visit(page, url)
    mirror = page.get_by_test_id("mirror")
    expect(mirror).to_have_attribute("data-connection", "live")
    expect(mirror).to_have_attribute("data-verbs", re.compile("[1-9]"))
    expect(page.locator("[data-testid^=server-]").first).to_be_attached()


def server(page: Page, name: str) -> Locator:
    return page.get_by_test_id(f"server-{name}")


def card(page: Page, name: str) -> Locator:
    return page.get_by_test_id(f"card-{name}")


def active(page: Page, group: str = "g1") -> str:
    """Waits for the active of a group."""
    found = page.locator(f"[data-testid^=server-][data-group={group}][data-role=active]")
    expect(found).to_have_count(1, timeout=TAKEOVER_MS)
    return str(found.get_attribute("data-testid")).removeprefix("server-")


def standbys(page: Page, group: str = "g1") -> list[str]:
    found = page.locator(f"[data-testid^=server-][data-group={group}][data-role=standby]").all()
    return [str(each.get_attribute("data-testid")).removeprefix("server-") for each in found]


def role_is(page: Page, name: str, role: str) -> None:
    expect(server(page, name)).to_have_attribute("data-role", role, timeout=TAKEOVER_MS)


def sn(page: Page, name: str) -> int:
    return int(server(page, name).get_attribute("data-sn") or 0)


def goes_on(page: Page, name: str) -> None:
    """The server's sn grows from here on."""
    seen = sn(page, name)
    page.wait_for_function(
        "([name, seen]) => Number(document.querySelector(`[data-testid=server-${name}]`).dataset.sn) > seen + 5",
        arg=[name, seen],
        timeout=TAKEOVER_MS,
    )


def click_link(page: Page, a: str, b: str) -> None:
    """Clicks where no other element covers the link."""
    point = page.wait_for_function(ON_LINK, arg=[a, b]).json_value()
    page.mouse.click(*point)


def link_state(page: Page, a: str, b: str) -> Locator:
    return page.locator(f"[data-testid=link-{a}-{b}], [data-testid=link-{b}-{a}]")


def drag_to_island(page: Page, name: str) -> None:
    start, goal = card(page, name).bounding_box(), page.get_by_test_id("island").bounding_box()
    assert start is not None and goal is not None
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + 30)
    page.mouse.down()
    page.mouse.move(goal["x"] + goal["width"] / 2, goal["y"] + 80, steps=12)
    page.mouse.up()
