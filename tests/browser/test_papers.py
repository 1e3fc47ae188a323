"""The page of papers: a mechanism is read, started, shown by its buttons and left; an experiment before and after a run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from backend.remote_requests import ask
from tests.browser.families.looks import faultless
from tests.browser.looking import TAKEOVER_MS, active, visit
from tests.browser.running import Running, living
from tests.browser.test_access import AXE
from tests.chosen import only_full

LOOKS = [(1280, "dark"), (400, "light"), *only_full((1920, "light"), (400, "dark"))]
OUTCOME = """{
  "figures": {"final_sync_10k_ms": 3.5, "image_s": 1.25}, "paper": {"final_sync_10k_ms": 22.78},
  "config": {"quick": true}, "notes": ["What stood still."]
}"""
PLOT = "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20'><rect width='40' height='20'/></svg>"


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Running]:
    """A control plane with a data directory of its own, in which one experiment was run."""
    directory = tmp_path_factory.mktemp("papers")
    kept = directory / "share" / "cloverlab" / "reproduced"
    kept.mkdir(parents=True)
    (kept / "cfs-fig12.json").write_text(OUTCOME)
    (kept / "cfs-fig12.svg").write_text(PLOT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(directory / "share"))
        with living(Running(directory, shape=("--on", "simulated"))) as running:
            yield running


def started(page: Page, papers: Running, mechanism: str) -> None:
    visit(page, f"{papers.url}papers/{mechanism}")
    page.get_by_test_id("start-cluster").click()
    expect(page).to_have_url(re.compile(rf"/papers/{mechanism}\?cluster=paper-"))


def test_a_reader_finds_a_mechanism_and_causes_what_it_is_about(page: Page, papers: Running) -> None:
    visit(page, papers.url)
    page.get_by_test_id("page-papers").click()
    page.get_by_test_id("mechanism-cfs/election").get_by_role("link").click()
    expect(page.get_by_role("heading", name="The election of a new active")).to_be_visible()
    expect(page.get_by_text("Algorithm 2")).to_be_visible()
    page.get_by_test_id("start-cluster").click()
    old = active(page)
    page.get_by_test_id("shown-1").get_by_role("button", name="Crash the active").click()
    expect(page.get_by_test_id("shown-1")).to_have_attribute("data-done", "1")
    expect(page.locator(f"[data-role=active]:not([data-testid=server-{old}])")).to_have_count(
        1, timeout=TAKEOVER_MS
    )
    expect(page.get_by_role("region", name="Timeline")).to_be_visible()
    page.get_by_test_id("look-coordination").click()
    expect(page).to_have_url(re.compile(r"/coordination\?cluster=paper-"))
    page.go_back()
    expect(page.get_by_test_id("shown-1")).to_be_visible()


def test_a_checkpoint_is_marked_and_recovered_by_buttons(page: Page, papers: Running) -> None:
    started(page, papers, "cfs/global-recovery")
    active(page, "g2")
    for place in (1, 2):
        step = page.get_by_test_id(f"shown-{place}")
        step.get_by_role("button").click()
        expect(step).to_have_attribute("data-done", "1", timeout=TAKEOVER_MS)
        if place == 1:
            checkpoints = f"clusters/{page.url.partition('cluster=')[2]}/checkpoints"
            page.wait_for_function(
                "path => fetch(`/api/${path}`).then(answer => answer.json())"
                ".then(found => found.checkpoints.some(({state}) => state === 'complete'))",
                arg=checkpoints,
                timeout=TAKEOVER_MS,
            )


def test_a_refused_button_says_why(page: Page, papers: Running) -> None:
    started(page, papers, "cfs/roles")
    active(page)
    restart = page.get_by_test_id("shown-2")
    restart.get_by_role("button").click()
    expect(restart.get_by_role("alert")).to_contain_text("there is no last down of g1 now")
    expect(restart).to_have_attribute("data-done", "0")


def test_a_cluster_that_has_ended_is_started_again(page: Page, papers: Running) -> None:
    started(page, papers, "dcfs3/packing")
    before = page.url
    name = before.partition("cluster=")[2]
    ask(papers.port, "DELETE", f"/api/clusters/{name}")
    visit(page, before)
    expect(page.get_by_test_id("cluster-gone")).to_be_visible()
    page.get_by_test_id("start-cluster").click()
    expect(page.get_by_test_id("shown-1")).to_be_visible()
    assert page.url != before


def test_an_experiment_has_theirs_and_ours(page: Page, papers: Running) -> None:
    visit(page, f"{papers.url}papers")
    cfs = page.get_by_test_id("paper-cfs")
    cfs.get_by_text("18 experiments, 1 of them run here").click()
    cfs.get_by_role("link", name="cfs-fig12").click()
    row = page.get_by_test_id("figures").get_by_role("row", name="final sync 10k ms")
    expect(row.get_by_role("cell").nth(0)).to_have_text("22.78")
    expect(row.get_by_role("cell").nth(1)).to_have_text("3.5")
    expect(page.get_by_test_id("ran")).to_contain_text("a quick run")
    expect(page.get_by_text("What stood still.")).to_be_visible()
    assert page.get_by_test_id("plot").evaluate(
        "async plot => { await plot.decode(); return plot.naturalWidth }"
    )
    page.get_by_role("link", name="All papers").click()
    expect(cfs).to_be_visible()


def test_without_a_run_the_page_names_the_command(page: Page, papers: Running) -> None:
    visit(page, f"{papers.url}papers/experiments/cfs-table2")
    expect(page.get_by_test_id("not-run")).to_contain_text("./cloverlab reproduce cfs-table2")
    expect(page.get_by_test_id("plot")).to_have_count(0)
    expect(page.get_by_role("columnheader", name="Ours", exact=True)).to_have_count(0)
    expect(page.get_by_role("columnheader")).to_have_count(2)
    expect(page.locator(".experiment-bars")).to_have_count(0)
    visit(page, f"{papers.url}papers/experiments/dcfs3-stat")
    expect(page.get_by_test_id("no-figures")).to_be_visible()


@pytest.mark.parametrize("path", ["cfs/none", "experiments/none"])
def test_what_is_not_there_is_reported(page: Page, papers: Running, path: str) -> None:
    visit(page, f"{papers.url}papers/{path}")
    expect(page.get_by_role("alert")).to_contain_text("none")
    page.get_by_role("link", name="All papers").click()
    expect(page.get_by_test_id("paper-saa")).to_be_visible()


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed")
@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_nothing_is_wrong_at_any_size_in_light_and_dark(
    browser: Browser, papers: Running, width: int, scheme: Any
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    for path, there in (
        ("papers", "paper-dcfs3"),
        ("papers/cfs/takeover", "start-cluster"),
        ("papers/experiments/cfs-fig12", "plot"),
        ("papers/experiments/cfs-table2", "not-run"),
    ):
        visit(page, papers.url + path)
        expect(page.get_by_test_id(there)).to_be_visible()
        faultless(page, width, f"{path} {width} {scheme}")
    page.get_by_role("link", name="All papers").click()
    started(page, papers, "cfs/takeover")
    active(page)
    faultless(page, width, f"beside its cluster {width} {scheme}")
    ask(papers.port, "DELETE", f"/api/clusters/{page.url.partition('cluster=')[2]}")
    context.close()
