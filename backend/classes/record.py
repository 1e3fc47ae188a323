"""What is kept of a class, and its changes: each is a function from the record before to the record after."""

from __future__ import annotations

import msgspec

from backend.attempts.attempt import AttemptRun
from backend.classes.names import identity_of, read_name
from backend.errors import Impossible, NotThere
from backend.grading.verdict import GradeVerdict
from backend.labs.model import Answer

STUDENTS_MAX = 60
RESULTS_KEPT = 50
"""Attempts that are kept of one student: those that passed, and the newest ones."""
HAND_INS_KEPT = 20


class LabResult(msgspec.Struct, frozen=True):
    """One attempt of a student at a lab, from its predictions on."""

    attempt: str
    lab: str
    began_s: float
    """Unix time of the predictions."""
    answers: dict[str, Answer] = {}
    steps: dict[str, bool] = {}
    """Whether each step is passed; empty while the run goes on, and for ever if it was cut off."""
    hints: int = 0
    ended_s: float = 0.0

    @property
    def passed(self) -> bool:
        return bool(self.steps) and all(self.steps.values())


class HandIn(msgspec.Struct, frozen=True):
    """A signed verdict on a part that a student's own machine has judged."""

    verdict: GradeVerdict
    at_s: float


class KeptRun(msgspec.Struct, frozen=True):
    """The run of a student's cluster, which is repeated after a new start of the control plane."""

    cluster: str
    attempt: AttemptRun | None = None
    """None for a free cluster."""


class ClassStudent(msgspec.Struct, frozen=True):
    id: str
    name: str
    key_sha256: str
    """Of the student's key, which itself is nowhere."""
    joined_s: float
    results: tuple[LabResult, ...] = ()
    """In the order of their beginnings."""
    hand_ins: tuple[HandIn, ...] = ()
    run: KeptRun | None = None

    @property
    def passed(self) -> frozenset[str]:
        """The labs that some attempt has passed."""
        return frozenset(each.lab for each in self.results if each.passed)


class ClassRecord(msgspec.Struct, frozen=True):
    number: int
    """Of the classes of this data directory, from 1."""
    name: str
    code: str
    began_s: float
    joining: bool = True
    """Whether the code still admits."""
    ended_s: float = 0.0
    students: tuple[ClassStudent, ...] = ()

    @property
    def is_open(self) -> bool:
        return not self.ended_s

    def student(self, id: str) -> ClassStudent:
        """Raises NotThere."""
        found = next((each for each in self.students if each.id == id), None)
        if found is None:
            raise NotThere(f"the class has no student {id[:40]!r}")
        return found


def with_joined(record: ClassRecord, student: ClassStudent) -> ClassRecord:
    """Raises Impossible for a name that is taken, and when the class is full; Malformed for what is no name."""
    name = read_name(student.name)
    if any(identity_of(each.name) == identity_of(name) for each in record.students):
        raise Impossible(
            f"a student called {name} has joined already: take another name, as with your family name, or ask for a new link"
        )
    if len(record.students) >= STUDENTS_MAX:
        raise Impossible(f"{STUDENTS_MAX} students are the most that one class takes")
    return msgspec.structs.replace(
        record, students=(*record.students, msgspec.structs.replace(student, name=name))
    )


def with_student(record: ClassRecord, student: ClassStudent) -> ClassRecord:
    """With this student in the place of the one with the same id."""
    students = tuple(student if each.id == student.id else each for each in record.students)
    return msgspec.structs.replace(record, students=students)


def without_student(record: ClassRecord, id: str) -> ClassRecord:
    """Raises NotThere."""
    gone = record.student(id)
    return msgspec.structs.replace(record, students=tuple(each for each in record.students if each != gone))


def with_result(student: ClassStudent, result: LabResult) -> ClassStudent:
    """With this state of an attempt; the oldest attempt that failed makes room."""
    others = [each for each in student.results if each.attempt != result.attempt]
    results = [*others, result] if len(others) == len(student.results) else replaced(student.results, result)
    while len(results) > RESULTS_KEPT:
        failed = next((each for each in results[:-1] if not each.passed), results[0])
        results.remove(failed)
    return msgspec.structs.replace(student, results=tuple(results))


def replaced(results: tuple[LabResult, ...], result: LabResult) -> list[LabResult]:
    return [result if each.attempt == result.attempt else each for each in results]


def with_resumed(student: ClassStudent, old: str, new: str) -> ClassStudent:
    """With the attempt under its new name, so that its verdict does not count as another one's."""
    results = (
        msgspec.structs.replace(each, attempt=new) if each.attempt == old else each
        for each in student.results
    )
    return msgspec.structs.replace(student, results=tuple(results))


def with_hand_in(student: ClassStudent, hand_in: HandIn) -> ClassStudent:
    """The same verdict counts once. Raises Impossible when there are too many."""
    if any(each.verdict == hand_in.verdict for each in student.hand_ins):
        return student
    if len(student.hand_ins) >= HAND_INS_KEPT:
        raise Impossible(f"{HAND_INS_KEPT} verdicts of one student are the most")
    return msgspec.structs.replace(student, hand_ins=(*student.hand_ins, hand_in))
