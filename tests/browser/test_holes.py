"""Every page of a cluster with an open hole of the paper shows the hole."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from nodes.families import paper_holes
from tests.browser.looking import PAGES, opened, visit
from tests.browser.running import Running, living

HOLES = ("no_fencing", "async_flush")
SHAPE = ("--standbys", "1", "--data-nodes", "0", *(word for hole in HOLES for word in ("--hole", hole)))


@pytest.mark.timeout(120)
def test_open_holes_are_named_on_every_page(page: Page, tmp_path: Path) -> None:
    with living(Running(tmp_path, shape=SHAPE)) as holed:
        opened(page, holed.url)
        badge = page.get_by_test_id("holes")
        expect(badge).to_contain_text(f"started with the holes {', '.join(HOLES)}")
        for name in PAGES:
            visit(page, f"{holed.url}{name}")
            expect(badge).to_contain_text(HOLES[0])
        for width in (1024, 390):
            page.set_viewport_size({"width": width, "height": 800})
            opened(page, holed.url)
            expect(badge).to_be_in_viewport(ratio=1)
            expect(badge).to_contain_text(HOLES[1])


@pytest.mark.timeout(120)
def test_a_cluster_as_the_paper_has_it_says_so(page: Page, tmp_path: Path) -> None:
    shape = ("--standbys", "1", "--data-nodes", "0", "--variant", "paper")
    with living(Running(tmp_path, shape=shape)) as holed:
        opened(page, holed.url)
        badge = page.get_by_test_id("holes")
        expect(badge).to_contain_text(f"as the paper has it, with {len(paper_holes('mams'))} holes")
        assert "async_flush" in (badge.get_attribute("title") or "")
        page.set_viewport_size({"width": 390, "height": 800})
        expect(badge).to_be_in_viewport(ratio=1)


def test_a_safe_cluster_has_no_badge(page: Page, lab: Running) -> None:
    opened(page, lab.url)
    expect(page.get_by_test_id("holes")).to_have_count(0)
