"""A class in several browsers: the instructor's wall, and students who join, break their clusters and do a lab."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Browser, Page, expect

from backend.grading.verdict import GradeVerdict, signed
from tests.browser.families.looks import faultless
from tests.browser.looking import TAKEOVER_MS, active, card, drag_to_island, visit
from tests.browser.running import Running, living
from tests.browser.test_access import AXE
from tests.chosen import only_full

LAB = "what-is-a-standby"
PROJECTOR, PHONE = (1024, 768), (400, 800)
LOOKS = [(PROJECTOR, "dark"), (PHONE, "light"), *only_full((PROJECTOR, "light"), (PHONE, "dark"))]


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Running]:
    directory = tmp_path_factory.mktemp("class")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(directory / "share"))
        with living(Running(directory, shape=("--on", "simulated"))) as running:
            yield running


@pytest.fixture
def code(plane: Running) -> Iterator[str]:
    """The code of an open class."""
    made = plane.post("class", {"name": "DS 101"})
    yield made["code"]
    plane.post("class/end", {})


@pytest.fixture
def student(browser: Browser) -> Iterator[Page]:
    """Another browser, without any key."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(15_000)
    yield page
    context.close()


def joined(page: Page, plane: Running, code: str, name: str) -> None:
    page.goto(f"{plane.url}join")
    page.get_by_label("Code of the class").fill(code.lower().replace("-", " "))
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Join").click()
    page.get_by_role("link", name="Open your labs").click()
    # The page begins again once the student's own cluster is open.
    expect(page).to_have_url(re.compile("cluster="), timeout=TAKEOVER_MS)
    expect(page.get_by_test_id("me")).to_have_text(name)


def test_the_instructor_starts_a_class_and_ends_it(page: Page, plane: Running, student: Page) -> None:
    visit(page, f"{plane.url}class")
    page.get_by_test_id("class-name").fill("DS 102")
    page.get_by_test_id("class-start").click()
    code = page.get_by_test_id("class-code").inner_text()
    joined(student, plane, code, "Ada")
    tile = page.get_by_test_id("student-Ada")
    expect(tile).to_contain_text("free cluster")
    expect(tile.locator(".student-server")).to_have_count(4, timeout=TAKEOVER_MS)
    page.get_by_test_id("class-joining").click()
    expect(page.get_by_test_id("class-code")).to_have_count(0)
    page.get_by_test_id("class-end").click()
    page.get_by_test_id("do-class-end").click()
    expect(page.get_by_text("This class has ended")).to_be_visible()
    expect(student.get_by_test_id("refused")).to_be_visible(timeout=TAKEOVER_MS)


def test_a_wrong_code_is_said_and_a_name_is_taken_once(plane: Running, code: str, student: Page) -> None:
    student.goto(f"{plane.url}join")
    student.get_by_label("Code of the class").fill("AAAA-AAAA")
    student.get_by_label("Your name").fill("Ada")
    student.get_by_role("button", name="Join").click()
    expect(student.get_by_role("alert")).to_contain_text("not the code")
    expect(student.get_by_label("Your name")).to_have_value("Ada")
    student.get_by_label("Code of the class").fill(code)
    student.get_by_role("button", name="Join").click()
    expect(student.get_by_role("heading", name="Welcome, Ada")).to_be_visible()
    student.goto(f"{plane.url}join")
    student.get_by_label("Code of the class").fill(code)
    student.get_by_label("Your name").fill("ADA")
    student.get_by_role("button", name="Join").click()
    expect(student.get_by_role("alert")).to_contain_text("another name")


def test_a_student_breaks_the_own_cluster_and_does_a_lab_on_the_wall(
    page: Page, plane: Running, code: str, student: Page
) -> None:
    joined(student, plane, code, "Bob")
    for name in ("class", "explore", "scenarios", "compare"):
        expect(student.get_by_test_id(f"page-{name}")).to_have_count(0)
    visit(page, f"{plane.url}class")
    student.get_by_test_id("my-cluster").click()
    old = active(student)
    card(student, old).focus()
    student.keyboard.press("c")
    tile = page.get_by_test_id("student-Bob")
    expect(tile.locator("[data-process=stopped]")).to_have_count(1, timeout=TAKEOVER_MS)
    student.get_by_test_id("page-labs").click()
    student.get_by_test_id(f"lab-{LAB}").get_by_role("link").click()
    expect(student.get_by_test_id("joined")).to_contain_text("You are Bob")
    student.get_by_test_id("start-lab").click()
    expect(student.get_by_test_id("verdict")).to_have_attribute("data-phase", "predict")
    expect(tile).to_contain_text("predicting")
    student.get_by_test_id("answer-how-long").fill("5")
    student.get_by_test_id("answer-standbys-left").fill("2")
    student.get_by_test_id("answer-failed-calls-0").check()
    student.get_by_test_id("go").click()
    expect(tile).to_contain_text("running for")
    expect(tile).to_contain_text("how-long “5”")
    active(student)
    tile.get_by_test_id("fork").click()
    expect(page.locator(".brand-cluster")).to_contain_text("fork-", timeout=TAKEOVER_MS)
    student.get_by_test_id("go").click()
    expect(student.get_by_test_id("verdict")).to_have_attribute("data-phase", "over")


def looking(page: Page, plane: Running, name: str) -> list[str]:
    """Goes from the wall to a student's cluster; the requests that the page sends there from then on, other than questions, are added to the list."""
    visit(page, f"{plane.url}class")
    page.get_by_test_id(f"student-{name}").get_by_role("link", name="Look").click()
    expect(page.get_by_test_id("looking")).to_contain_text(
        f"You look at {name}'s cluster.", timeout=TAKEOVER_MS
    )
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method != "GET" else None)
    return sent


def test_an_instructor_looks_and_breaks_the_fork(
    page: Page, plane: Running, code: str, student: Page
) -> None:
    joined(student, plane, code, "Eli")
    sent, said = looking(page, plane, "Eli"), page.get_by_test_id("toast-error")
    name, clock = active(page), page.get_by_test_id("clock-bar")
    for control in ("clock-play", "clock-speed", "until", "workload", "workload-pause", "tour", "guide"):
        expect(page.get_by_test_id(control)).to_have_count(0)
    expect(page.get_by_text("5 calls/s")).to_be_visible()
    card(page, name).focus()
    for key in ("c", "x", "a"):
        page.keyboard.press(key)
        expect(said.last).to_contain_text("Fork it to try something")
    page.keyboard.press(" ")
    expect(page.get_by_test_id("time")).to_have_attribute("data-state", "frozen")
    expect(clock).to_have_attribute("data-playing", "true")
    page.keyboard.press(" ")
    drag_to_island(page, name)
    card(page, name).click()
    menu = page.get_by_role("dialog", name=name)
    expect(menu).to_contain_text("You look at Eli's cluster.")
    expect(menu.locator(".verb")).to_have_count(0)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Command").fill("crash")
    expect(page.get_by_text("No command has these words.")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_test_id("clusters").click()
    expect(page.get_by_test_id("cluster-new")).to_be_visible()
    expect(page.get_by_test_id("cluster-delete")).to_have_count(0)
    page.keyboard.press("Escape")
    page.get_by_test_id("page-namespace").click()
    page.get_by_test_id("name-/").focus()
    page.keyboard.press("n")
    expect(said.last).to_contain_text("Fork it to try something")
    for control in ("act-make", "act-delete", "form-make"):
        expect(page.get_by_test_id(control)).to_have_count(0)
    page.get_by_test_id("page-checkpoints").click()
    expect(page.get_by_text("No checkpoints yet.")).to_be_visible()
    expect(page.get_by_test_id("mark")).to_have_count(0)
    assert sent == []
    tile = plane.ask("class/wall")["tiles"][0]["cluster"]
    assert tile["playing"] and {each["process"] for each in tile["servers"]} == {"running"}
    page.get_by_test_id("looking").get_by_test_id("fork").click()
    expect(page.locator(".brand-cluster")).to_contain_text("fork-", timeout=TAKEOVER_MS)
    expect(page.get_by_test_id("looking")).to_have_count(0)
    card(page, active(page)).focus()
    page.keyboard.press("c")
    expect(page.get_by_test_id("toast-done")).to_contain_text("Crashed")


def test_an_instructor_reads_a_students_lab_and_answers_nothing(
    page: Page, plane: Running, code: str, student: Page
) -> None:
    joined(student, plane, code, "Flo")
    student.get_by_test_id(f"lab-{LAB}").get_by_role("link").click()
    student.get_by_test_id("start-lab").click()
    expect(student.get_by_test_id("verdict")).to_have_attribute("data-phase", "predict")
    looking(page, plane, "Flo")
    page.goto(page.url.replace("/?", f"/labs/{LAB}?"))
    expect(page.get_by_test_id("verdict")).to_have_attribute("data-phase", "predict")
    expect(page.get_by_test_id("looking")).to_contain_text("Flo's cluster")
    for control in ("answer-how-long", "ask-how-long", "go"):
        expect(page.get_by_test_id(control)).to_have_count(0)
        expect(student.get_by_test_id(control)).to_have_count(1)


def test_a_verdict_is_handed_in_and_another_file_is_refused(
    page: Page, plane: Running, code: str, student: Page
) -> None:
    joined(student, plane, code, "Di")
    visit(page, f"{plane.url}class")
    tile, chosen = page.get_by_test_id("student-Di"), student.get_by_test_id("hand-in")
    refused = student.get_by_test_id("in-class-failed")

    def hand_in(content: bytes) -> None:
        chosen.set_input_files({"name": "v.json", "mimeType": "application/json", "buffer": content})

    for content in (b"\x00\xffnot json", b"x" * (1 << 17), b"null", b"[]", b"7"):
        hand_in(content)
        expect(refused).to_contain_text("v.json is no verdict")
    verdict = GradeVerdict("election", "Di", "1..200", True, 0, "", "0" * 64, "1.0")
    hand_in(b"{}")
    expect(refused).to_contain_text("lab")
    hand_in(msgspec.json.encode(verdict))
    expect(refused).to_contain_text("not signed with the code of this class")
    hand_in(msgspec.json.encode(signed(verdict, code)))
    expect(student.get_by_text("Handed in: election, passed.")).to_be_visible()
    expect(refused).to_have_count(0)
    expect(tile).to_contain_text("1 verdict handed in", timeout=TAKEOVER_MS)


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed")
@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_axe_finds_nothing(
    browser: Browser, plane: Running, code: str, scheme: Any, size: tuple[int, int], student: Page
) -> None:
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(f"{plane.url}join")
    faultless(page, size[0], "the entrance")
    joined(student, plane, code, "Cy")
    visit(page, f"{plane.url}class")
    expect(page.get_by_test_id("student-Cy").locator(".student-server")).to_have_count(4, timeout=TAKEOVER_MS)
    faultless(page, size[0], "the wall")
    looking(page, plane, "Cy")
    card(page, active(page)).click()
    expect(page.locator(".menu .looking")).to_be_visible()
    faultless(page, size[0], "a student's cluster")
    context.close()
