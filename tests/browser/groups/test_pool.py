"""The storage pool page: locations of files, a complete repair, keyboard and access."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.looking import visit
from tests.browser.running import Running, wait_for
from tests.browser.test_access import AXE, violations

SEEN_MS = 20_000


def pool(lab: Running, group: str) -> Any:
    run = lab.ask("runs")[0]["run"]
    return next(each for each in lab.ask(f"runs/{run}/pool") if each["group"] == group)


def order(lab: Running, group: str, do: str) -> None:
    body = json.dumps({"group": group, "do": do}).encode()
    urllib.request.urlopen(lab.request("pool", body), timeout=10).close()


def newest(lab: Running, group: str, above: int = 0) -> Any:
    """The newest image, once its sn is above this one, it is whole on every node and has been compared."""

    def whole() -> Any:
        reported = pool(lab, group)
        image = max(reported["images"].values(), key=lambda each: each["sn"], default=None)
        if image is None or image["sn"] <= above or len(image["whole"]) < 3:
            return None
        return image if len(reported["files"].get(f"image/{image['name']}.manifest", ())) == 3 else None

    return wait_for(whole, 30, f"a whole image of {group} above sn {above}")


def newest_sn(lab: Running, group: str) -> int:
    return max((image["sn"] for image in pool(lab, group)["images"].values()), default=0)


def ordered(lab: Running, group: str) -> Any:
    """Orders a new image; an image taken while a standby is being renewed would be on two servers only."""
    before = newest_sn(lab, group)
    order(lab, group, "image")
    return newest(lab, group, before)


def cell(page: Page, group: str, node: str, row: str) -> Locator:
    return page.get_by_test_id(f"cell-{group}/{node}/{row}")


def on_disk(lab: Running, node: str, image: str) -> dict[str, bytes]:
    """The partitions of an image on a node's disk."""
    files = (lab.directory / "data" / "servers" / node / "image").glob(f"{image}.p*")
    return {file.name: file.read_bytes() for file in files}


def test_an_image_appears_on_every_node(page: Page, pair: Running) -> None:
    visit(page, pair.url)
    page.get_by_test_id("page-pool").click()
    members = pair.group("g1")["configuration"]["members"]
    for node in members:
        expect(cell(page, "g1", node, "journal")).to_contain_text("sn ")
    before = newest_sn(pair, "g1")
    page.get_by_test_id("order-image-g1").click()
    expect(page.get_by_test_id("toast-done")).to_contain_text("has a standby take an image")
    image = newest(pair, "g1", before)
    for node in members:
        expect(cell(page, "g1", node, image["name"])).to_have_attribute("data-state", "agrees")
    expect(page.get_by_role("rowheader", name=f"image at sn {image['sn']:,}")).to_contain_text(
        f"taken by {image['writer']}"
    )


def test_a_damaged_file_is_found_and_repaired(page: Page, pair: Running) -> None:
    image = newest(pair, "g1")
    node = next(name for name in image["whole"] if name != pair.group("g1")["active"])
    visit(page, f"{pair.url}storage-pool?select=g1/{node}/{image['name']}")
    expect(page.get_by_test_id("verdict")).to_contain_text("believed")
    good = on_disk(pair, node, image["name"])
    page.get_by_test_id("damage").click()
    shown = cell(page, "g1", node, image["name"])
    expect(shown).to_have_attribute("data-state", "faulted")
    assert on_disk(pair, node, image["name"]) != good
    page.get_by_test_id("order-check-g1").click()
    expect(shown).to_have_attribute("data-state", "repaired", timeout=SEEN_MS)
    expect(page.get_by_test_id("details")).to_contain_text("Repaired from")
    wait_for(lambda: on_disk(pair, node, image["name"]) == good, 10, "the files as they were")
    others = [name for name in image["whole"] if name != node]
    for other in others:
        expect(cell(page, "g1", other, image["name"])).to_have_attribute("data-state", "agrees")


def test_the_keyboard_goes_from_cell_to_cell_and_orders(page: Page, pair: Running) -> None:
    first, second = sorted(pair.group("g2")["configuration"]["members"])[:2]
    image = ordered(pair, "g2")
    visit(page, f"{pair.url}storage-pool?select=g2/{first}/journal")
    here = cell(page, "g2", first, "journal")
    expect(here).to_have_attribute("aria-pressed", "true")
    expect(here).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(cell(page, "g2", second, "journal")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(cell(page, "g2", second, image["name"])).to_be_focused()
    page.wait_for_function(f"() => location.search === '?select=g2/{second}/{image['name']}'")
    expect(page.get_by_test_id("details")).to_contain_text(f"on {second}")
    before = pool(pair, "g2")["nodes"][second]["reported_ns"]
    page.keyboard.press("k")
    wait_for(lambda: pool(pair, "g2")["nodes"][second]["reported_ns"] > before, 15, "another report")
    page.go_back()


def test_what_cannot_be_ordered_is_said(page: Page, pair: Running) -> None:
    visit(page, f"{pair.url}storage-pool")
    expect(page.get_by_test_id("matrix-g1")).to_be_visible()
    page.route("**/api/pool", lambda route: route.abort())
    page.get_by_test_id("order-check-g1").click()
    expect(page.get_by_test_id("toast-error")).to_contain_text("the control plane does not answer")


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed")
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_axe_finds_nothing_on_the_storage_pool_page(
    browser: Browser, pair: Running, width: int, scheme: Any
) -> None:
    image = newest(pair, "g1")
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    visit(page, f"{pair.url}storage-pool?select=g1/{image['whole'][0]}/{image['name']}")
    expect(page.get_by_test_id("verdict")).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_an_image_is_looked_into_partition_by_partition(page: Page, pair: Running) -> None:
    newest(pair, "g1")
    visit(page, f"{pair.url}storage-pool")
    page.get_by_test_id("look-path").fill("nonsense")
    page.get_by_test_id("look").click()
    expect(page.get_by_test_id("look-failed")).to_contain_text("does not begin with /")
    page.get_by_test_id("look-path").fill("/")
    page.get_by_test_id("look").click()
    reported = page.get_by_test_id("looked")
    expect(reported).to_contain_text("a directory of")
    expect(reported).to_contain_text("loaded 1 of 8 partitions")
    expect(reported.locator(".pool-part:not(.pool-absent)")).to_have_count(1)
    page.get_by_test_id("look-path").fill("/no-such-name")
    page.get_by_test_id("look").click()
    expect(reported).to_contain_text("the image does not have it")
