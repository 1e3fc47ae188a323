"""Whether a verdict on a student's part of a server can be handed in."""

from __future__ import annotations

import re

from backend.classes.names import identity_of
from backend.errors import Malformed
from backend.grading import skeletons
from backend.grading.verdict import GradeVerdict, is_signed

SEEDS = re.compile(r"\d{1,9}\.\.\d{1,9}")
DIGEST = re.compile(r"[0-9a-f]{64}")
WORD = re.compile(r"[\w .:+-]{0,80}")
"""Names of invariants, and versions."""


def check_verdict(verdict: GradeVerdict, student: str, code: str) -> None:
    """Raises Malformed, NotThere for a lab that is none. The verdict is as its sender wrote it, and any of its fields may be anything."""
    skeletons.known(verdict.lab)
    if not is_signed(verdict, code):
        raise Malformed(
            "the verdict is not signed with the code of this class: ./cloverlab grade … --code CODE"
        )
    if identity_of(verdict.student) != identity_of(student):
        raise Malformed(f"the verdict is of {verdict.student[:60]!r}: grade again with --student {student!r}")
    formed = (
        SEEDS.fullmatch(verdict.seeds) and DIGEST.fullmatch(verdict.sha256) and verdict.seed < 1 << 32
        and all(WORD.fullmatch(word) for word in (verdict.invariant, verdict.version))
    )  # fmt: skip
    if not formed:
        raise Malformed("the verdict is not as ./cloverlab grade writes it")
