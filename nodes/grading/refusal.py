"""How the process of a submission ends when the submission breaks a rule: one line to the process that started it, then the end."""

from __future__ import annotations

import os
from typing import NoReturn

import msgspec

RESULTS_FD = 1
"""Where the lines with results go: standard output. What the submission prints goes to standard error."""
REFUSED = 3
"""Exit code after a refusal."""


class TrialStarted(msgspec.Struct, tag="Started", frozen=True):
    """A trial begins, or another one to make its failing plan smaller."""

    seed: int


class Passed(msgspec.Struct, tag=True, frozen=True):
    """A trial violated nothing."""

    seed: int


class TrialFailed(msgspec.Struct, tag="Failed", frozen=True):
    """A trial violated an invariant."""

    seed: int
    invariant: str
    explanation: str
    story: list[str]
    faults: int
    calls: int
    """Number of faults and calls of the trial of the story, after shrinking."""


class SubmissionRefused(msgspec.Struct, tag="Refused", frozen=True):
    """The submission cannot be judged, with the reason in one line."""

    line: str


Result = TrialStarted | Passed | TrialFailed | SubmissionRefused


def report(result: Result) -> None:
    os.write(RESULTS_FD, msgspec.json.encode(result) + b"\n")


def refuse(line: str) -> NoReturn:
    """Ends this process at once, so that no `except` of the submission can hide the reason."""
    report(SubmissionRefused(" ".join(line.split())[:500]))
    os._exit(REFUSED)
