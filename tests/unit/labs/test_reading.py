"""A wrong lab or script is refused in one line that names the file and the line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from backend.errors import Malformed, NotThere
from backend.labs.reader import lab_of, read, read_script

LAB = """\
name: A lab
number: 1
goal: Learn.
read:
  - {paper: CFS, section: "§3.3", about: States.}
numbers: {session: [4, 5]}
cluster: {standbys: 2, session_timeout: "{session}s"}
steps:
  - id: guess
    text: How long?
    predict: {value: {name: takeover_s}, tolerance: 1, why: Because.}
  - id: crash
    text: Crash.
    check: {fault: {verb: crash}}
"""


def lab(tmp_path: Path, text: str, page: str = "# A lab\n") -> Path:
    folder = tmp_path / "a-lab"
    folder.mkdir(exist_ok=True)
    (folder / "lab.yaml").write_text(text)
    (folder / "lab.md").write_text(page)
    return folder


def test_a_right_lab_is_read(tmp_path: Path) -> None:
    found = read(lab(tmp_path, LAB, "# {session} seconds\n"), "ada")
    assert found.page == f"# {found.numbers['session']} seconds\n"
    assert found.file.cluster.session_timeout == f"{found.numbers['session']}s"


def test_a_changed_lab_is_read_again(tmp_path: Path) -> None:
    before = read(lab(tmp_path, LAB), "ada")
    assert read(lab(tmp_path, LAB), "ada") == before
    folder = lab(tmp_path, LAB.replace("Learn.", "Learn more."))
    os.utime(folder / "lab.yaml", ns=(1, 1))
    assert read(folder, "ada").file.goal == "Learn more."


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("goal: Learn.", "goals: Learn.", 3, "unknown field `goals`"),
        ("standbys: 2", "standbys: 99", 7, "<= 14"),
        ("name: takeover_s", "name: takeover", 11, "'takeover' is not a value"),
        ("{fault: {verb: crash}}", "{fault: {verb: crush}}", 14, "'crush' is not a fault"),
        ("{fault: {verb: crash}}", "{}", 14, "one of fault, expect and bound"),
        ("{fault: {verb: crash}}", "{expect: {fsck: clean}}", 14, "reads events only"),
        ("{fault: {verb: crash}}", "{expect: {broken: [no lost writes]}}", 14, "is not an invariant"),
        ("{fault: {verb: crash}}", "{bound: {value: {name: serving, group: g9}}}", 14, "no group is called 'g9'"),
        ("id: crash", "id: guess", 12, "two steps are called 'guess'"),
        ("[4, 5]", "[4, x]", 6, "Expected `int`"),
        ("standbys: 2", "standbys: 2, holes: [nope]", 7, "'nope' is not a known hole"),
        ("cluster: {", "workload: {rate: 9999/s}\ncluster: {", 7, "calls per second"),
        ("number: 1", "number: [", 2, ""),
    ],
)  # fmt: skip
def test_a_wrong_lab_names_its_line(tmp_path: Path, old: str, new: str, line: int, words: str) -> None:
    with pytest.raises(Malformed) as refused:
        read(lab(tmp_path, LAB.replace(old, new)), "ada")
    assert "\n" not in refused.value.message
    assert words in refused.value.message
    if words:
        assert f"lab.yaml:{line}:" in refused.value.message


def test_every_number_of_a_lab_is_checked_not_only_the_students(tmp_path: Path) -> None:
    with pytest.raises(Malformed, match="<= 14"):
        read(
            lab(tmp_path, LAB.replace("[4, 5]", "[4, 99]").replace("standbys: 2", 'standbys: "{session}"')),
            "ada",
        )


def test_a_page_with_an_unknown_number_names_its_line(tmp_path: Path) -> None:
    with pytest.raises(Malformed, match=r"lab\.md:2: 'pause' is not a number"):
        read(lab(tmp_path, LAB, "# A\n{pause}\n"), "ada")


def test_an_unknown_lab_suggests_one() -> None:
    with pytest.raises(NotThere, match="did you mean what-is-a-standby"):
        lab_of("what-is-a-stanby", "ada")


def test_a_script_with_a_wrong_action_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text("student: ada\nactions:\n  - {at: 5s, fault: crush, target: mds1}\n")
    with pytest.raises(Malformed, match=r"script\.yaml:3: .*crush"):
        read_script(path)
    path.write_text("student: ada\nactions:\n  - {expect: {serving: true}}\n")
    with pytest.raises(Malformed, match=r"script\.yaml:3: an action is"):
        read_script(path)
