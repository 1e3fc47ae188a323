"""What is kept of a class: its changes, its file, hand-ins, and the results as CSV."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import msgspec
import pytest

from backend.classes.hand_in import check_verdict
from backend.classes.record import (
    HAND_INS_KEPT,
    RESULTS_KEPT,
    STUDENTS_MAX,
    ClassRecord,
    ClassStudent,
    HandIn,
    LabResult,
    with_hand_in,
    with_joined,
    with_result,
    without_student,
)
from backend.classes.results import HEAD, cell, results_csv
from backend.classes.store import ClassStore
from backend.classes.wall import StuckFacts, failed_often, why_stuck
from backend.errors import ClusterCannotStart, Impossible, Malformed, NotThere, Unavailable
from backend.grading.supervisor import Graded
from backend.grading.verdict import GradeVerdict, signed, verdict_of

CODE = "ABCD-2345"
EMPTY = ClassRecord(1, "DS", CODE, 1.0)


def student(name: str = "Ada", id: str = "1") -> ClassStudent:
    return ClassStudent(id, name, "0" * 64, 2.0)


def result(
    attempt: str = "lab-1", passed: bool | None = None, lab: str = "why-wait", step: str = "a"
) -> LabResult:
    return LabResult(attempt, lab, 3.0, {"how-long": 5}, {} if passed is None else {step: passed, "b": True})


def verdict(**changes: Any) -> GradeVerdict:
    made = verdict_of("election", "Ada", range(1, 301), b"part", Graded(passed=300))
    return signed(msgspec.structs.replace(made, **changes), CODE)


def test_a_name_belongs_to_who_came_first() -> None:
    record = with_joined(EMPTY, student("  Ada "))
    assert [each.name for each in record.students] == ["Ada"]
    for taken in ("Ada", "ADA", "\uff41da"):
        with pytest.raises(Impossible, match="another name"):
            with_joined(record, student(taken, "2"))
    assert len(with_joined(record, student("Ada B", "2")).students) == 2
    assert without_student(record, "1").students == ()
    with pytest.raises(NotThere):
        without_student(record, "2")


def test_a_class_is_full_at_some_time() -> None:
    record = EMPTY
    for number in range(STUDENTS_MAX):
        record = with_joined(record, student(f"s{number}", str(number)))
    with pytest.raises(Impossible, match="the most"):
        with_joined(record, student("one more", "x"))


def test_an_attempt_is_one_result_and_those_that_passed_stay() -> None:
    made = with_result(with_result(student(), result()), result(passed=True))
    assert made.results == (result(passed=True),) and made.passed == {"why-wait"}
    for number in range(3 * RESULTS_KEPT):
        made = with_result(made, result(f"lab-x{number}", passed=False))
    assert len(made.results) == RESULTS_KEPT and made.passed == {"why-wait"}
    assert made.results[-1].attempt == f"lab-x{3 * RESULTS_KEPT - 1}"


def test_a_run_that_was_cut_off_keeps_its_predictions_and_has_not_passed() -> None:
    made = with_result(student(), result())
    assert not made.passed and made.results[0].answers == {"how-long": 5}


def test_a_verdict_counts_once_and_not_without_end() -> None:
    made = student()
    for _ in range(3):
        made = with_hand_in(made, HandIn(verdict(), 5.0))
    assert len(made.hand_ins) == 1
    for number in range(HAND_INS_KEPT - 1):
        made = with_hand_in(made, HandIn(verdict(seed=number + 1), 5.0))
    with pytest.raises(Impossible, match="the most"):
        with_hand_in(made, HandIn(verdict(seed=999), 5.0))


def test_a_good_verdict_is_taken() -> None:
    check_verdict(verdict(), "ADA", CODE)


@pytest.mark.parametrize(
    "wrong",
    [
        signed(verdict(), "ABCD-2346"),
        msgspec.structs.replace(verdict(), passed=False),
        msgspec.structs.replace(verdict(), signature=""),
        verdict(student="Eve"),
        verdict(seeds="=1..2"),
        verdict(sha256="x"),
        verdict(invariant="=cmd|'/c calc'!A0"),
        verdict(version="1\n2"),
        verdict(seed=1 << 40),
    ],
)
def test_a_verdict_of_another_code_or_student_or_form_is_refused(wrong: GradeVerdict) -> None:
    with pytest.raises(Malformed):
        check_verdict(wrong, "Ada", CODE)
    with pytest.raises(NotThere):
        check_verdict(verdict(lab="../../x"), "Ada", CODE)


def test_the_file_has_the_class_as_it_was(tmp_path: Path) -> None:
    store = ClassStore(tmp_path)
    assert store.newest() is None
    made = with_result(with_hand_in(student(), HandIn(verdict(), 5.0)), result(passed=True))
    record = msgspec.structs.replace(EMPTY, students=(made,))
    store.save(msgspec.structs.replace(EMPTY, name="earlier"))
    store.save(msgspec.structs.replace(record, number=10))
    store.save(msgspec.structs.replace(EMPTY, number=9))
    assert store.newest() == msgspec.structs.replace(record, number=10)
    assert {path.name for path in (tmp_path / "classes").iterdir()} == {"1.json", "9.json", "10.json"}


@pytest.mark.parametrize("content", [b"", b"{}", b'{"number": 1', b"\xff"])
def test_a_damaged_file_stops_the_start_in_one_line(tmp_path: Path, content: bytes) -> None:
    store = ClassStore(tmp_path)
    store.save(EMPTY)
    (tmp_path / "classes" / "1.json").write_bytes(content)
    with pytest.raises(ClusterCannotStart, match="damaged"):
        store.newest()


def test_a_link_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    store = ClassStore(tmp_path)
    store.save(EMPTY)
    (tmp_path / "elsewhere").write_bytes(msgspec.json.encode(EMPTY))
    (tmp_path / "classes" / "1.json").unlink()
    (tmp_path / "classes" / "1.json").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ClusterCannotStart, match="cannot read"):
        store.newest()


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "classes").write_text("")
    with pytest.raises(Unavailable, match="cannot be kept"):
        ClassStore(tmp_path).save(EMPTY)


def test_every_line_of_the_csv_has_every_column() -> None:
    made = with_result(with_result(student("Ada, B."[:3]), result(passed=True)), result("lab-2"))
    made = with_hand_in(made, HandIn(verdict(), 5.0))
    record = msgspec.structs.replace(EMPTY, students=(made, student("Bob", "2")))
    rows = list(csv.DictReader(io.StringIO(results_csv(record))))
    assert all(None not in row and None not in row.values() for row in rows)
    assert [(row["student"], row["kind"], row["result"]) for row in rows] == [
        ("Ada", "attempt", "passed"), ("Ada", "attempt", "not ended"), ("Ada", "handed in", "passed"), ("Bob", "none", ""),
    ]  # fmt: skip
    assert rows[0]["answers"] == "how-long: 5" and rows[0]["passed_steps"] == rows[0]["steps"] == "2"
    assert set(rows[0]) == set(HEAD)


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_is_a_formula(formula: str) -> None:
    assert cell(formula).startswith("'")
    assert cell("a=1") == "a=1"


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        (StuckFacts(True, 10.0, 2, ""), ""),
        (StuckFacts(True, 400.0, 2, ""), "no step for 7 minutes"),
        (StuckFacts(False, 4000.0, None, ""), ""),
        (StuckFacts(True, 10.0, 0, ""), "has read every hint of the open step"),
        (StuckFacts(False, 10.0, None, "crash"), "failed at crash 2 times in a row"),
    ],
)
def test_who_is_stuck(facts: StuckFacts, says: str) -> None:
    assert why_stuck(facts) == says


def test_the_same_step_twice_in_a_row() -> None:
    assert failed_often((result("1", False), result("2", False))) == "a"
    assert failed_often((result("1", False), result("2", True))) == ""
    assert failed_often((result("1", False), result("2", False, step="c"))) == ""
    assert failed_often((result("1", False), result("2", False, lab="other"))) == ""
    assert failed_often((result("1", False), result("2"), result("3", False))) == "a"
