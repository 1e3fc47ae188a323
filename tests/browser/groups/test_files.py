"""Files on the namespace page: upload, download, and their blocks on data nodes, by mouse and by keyboard."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.groups.test_namespace import at, row
from tests.browser.running import Running
from tests.browser.test_access import AXE, violations

CONTENT = bytes(range(256)) * 1200
SENT_MS = 20_000


@pytest.fixture
def blob(tmp_path: Path) -> Path:
    path = tmp_path / "blob.bin"
    path.write_bytes(CONTENT)
    return path


def upload(page: Page, lab: Running, file: Path, name: str) -> None:
    at(page, lab, "/")
    page.get_by_test_id("act-upload").click()
    page.get_by_test_id("upload-file").set_input_files(file)
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_test_id("do-upload").click()
    expect(row(page, f"/{name}")).to_have_attribute("aria-selected", "true", timeout=SENT_MS)


def blocks(lab: Running, path: str) -> Any:
    return lab.ask(f"fs/blocks?path={quote(path)}")["blocks"]


def test_a_file_is_sent_shown_block_by_block_and_fetched(page: Page, pair: Running, blob: Path) -> None:
    upload(page, pair, blob, "sent file")
    expect(page.get_by_test_id("toast-done")).to_contain_text("Uploaded 307 kB to /sent file")
    reported = blocks(pair, "/sent file")
    assert len(reported) == 5 and {each["health"] for each in reported} == {"whole"}
    for each in reported:
        shown = page.get_by_test_id(f"block-{each['number']}")
        expect(shown.locator("[data-replica=good]")).to_have_count(len(each["replicas"]))
    with page.expect_download() as started:
        page.get_by_test_id("download").click()
    assert started.value.suggested_filename == "sent file"
    assert Path(started.value.path()).read_bytes() == CONTENT


def test_a_data_node_that_is_gone_is_missing_in_the_blocks(page: Page, pair: Running, blob: Path) -> None:
    upload(page, pair, blob, "three times")
    number = blocks(pair, "/three times")[0]["number"]
    shown = page.get_by_test_id(f"block-{number}")
    expect(shown).to_have_attribute("data-health", "whole")
    pair.do("crash", "dn2")
    expect(shown).to_have_attribute("data-health", "under", timeout=30_000)
    expect(shown).to_contain_text("only 2 of 3")
    pair.do("restart", "dn2")
    expect(shown).to_have_attribute("data-health", "whole", timeout=30_000)


def test_an_empty_file_is_made_by_keyboard_and_a_taken_name_is_refused(
    page: Page, pair: Running, blob: Path
) -> None:
    at(page, pair, "/")
    row(page, "/").focus()
    page.keyboard.press("e")
    page.keyboard.type("empty file")
    page.keyboard.press("Enter")
    expect(row(page, "/empty file")).to_be_focused()
    expect(page.get_by_test_id("blocks")).to_contain_text("Nothing has been written")
    page.keyboard.press("o")
    page.get_by_test_id("upload-file").set_input_files(blob)
    page.get_by_label("Name", exact=True).fill("empty file")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("act-failed")).to_contain_text("EEXIST")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed")
def test_axe_finds_nothing_on_a_file(browser: Browser, pair: Running, blob: Path) -> None:
    context = browser.new_context(
        viewport={"width": 400, "height": 800}, color_scheme="dark", reduced_motion="reduce"
    )
    page = context.new_page()
    upload(page, pair, blob, "seen by axe")
    expect(page.get_by_test_id("blocks")).to_contain_text(re.compile("in 5 blocks"))
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.get_by_test_id("act-upload").click()
    expect(page.get_by_test_id("form-upload")).to_be_visible()
    assert violations(page) == []
    context.close()
