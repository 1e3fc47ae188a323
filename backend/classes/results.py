"""The results of a class as CSV: a line for each attempt and for each verdict that was handed in."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime

from backend.classes.record import ClassRecord, ClassStudent

HEAD = (
    "student", "kind", "lab", "began", "ended", "result", "passed_steps", "steps", "hints", "answers", "seeds",
    "failing_seed", "invariant", "part_sha256", "version",
)  # fmt: skip
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of a cell that a spreadsheet would compute."""


def results_csv(record: ClassRecord) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEAD)
    for student in record.students:
        writer.writerows([cell(value) for value in line] for line in lines(student))
    return text.getvalue()


def lines(student: ClassStudent) -> Iterator[tuple[object, ...]]:
    """A student without results has one line too."""
    if not student.results and not student.hand_ins:
        yield (student.name, "none", *[""] * (len(HEAD) - 2))
    for result in student.results:
        ended = "passed" if result.passed else "failed" if result.steps else "not ended"
        answers = "; ".join(f"{step}: {answer}" for step, answer in result.answers.items())
        yield (
            student.name, "attempt", result.lab, moment(result.began_s), moment(result.ended_s), ended,
            sum(result.steps.values()), len(result.steps), result.hints, answers, "", "", "", "", "",
        )  # fmt: skip
    for hand_in in student.hand_ins:
        verdict = hand_in.verdict
        yield (
            student.name, "handed in", verdict.lab, "", moment(hand_in.at_s), "passed" if verdict.passed else "failed", "", "", "", "",
            verdict.seeds, verdict.seed or "", verdict.invariant, verdict.sha256, verdict.version,
        )  # fmt: skip


def moment(unix_s: float) -> str:
    """In UTC; empty for one that did not come."""
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%d %H:%M:%SZ") if unix_s else ""


def cell(value: object) -> str:
    """The text of a cell. One that a spreadsheet would take for a formula gets a quote in front."""
    text = str(value)
    return f"'{text}" if text.startswith(FORMULAS) else text
