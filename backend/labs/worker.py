"""`python -m backend.labs.worker LAB`: reads a script as JSON from standard input, runs the lab, and writes the verdict, or `{"error"}`."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import msgspec

from backend.errors import LabError
from backend.labs.lab_run import run_lab
from backend.labs.model import ScriptPart
from backend.labs.reader import lab_of


def result_of(name: str, script: ScriptPart) -> dict[str, Any]:
    try:
        grade = asyncio.run(run_lab(lab_of(name, script.student), script))
    except LabError as error:
        return {"error": error.message}
    found: dict[str, Any] = msgspec.to_builtins(grade)
    return {**found, "passed": grade.passed}


if __name__ == "__main__":
    given = msgspec.json.decode(sys.stdin.buffer.read(), type=ScriptPart)
    sys.stdout.buffer.write(msgspec.json.encode(result_of(sys.argv[1], given)))
