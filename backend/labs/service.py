"""Labs for the page. A run takes seconds of a processor, so it has a process of its own, a limit of time, and few run at once."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Set
from typing import Any

import msgspec

from backend.errors import Impossible, Malformed
from backend.labs import progress
from backend.labs.model import Answer, ScriptPart
from backend.labs.reader import StudentLab, check_script, lab_of, names
from backend.repository import REPOSITORY

AT_ONCE = 2
LIMIT_S = 120.0
Passed = Set[str]
"""The labs that a student has passed; None where the progress of the command line says it."""
under_way: set[object] = set()
"""The runs under way."""


def listed(student: str = "student", passed: Passed | None = None) -> list[dict[str, Any]]:
    """All labs in their order. Raises Malformed."""
    labs = sorted((lab_of(name, student) for name in names()), key=lambda each: each.file.number)
    return [row_of(lab, student, passed) for lab in labs]


def is_done(lab: str, student: str) -> bool:
    """Whether the student has passed the lab; false for a damaged file."""
    try:
        saved = progress.loaded(lab, student)
    except Malformed:
        return False
    return saved is not None and saved.done


def row_of(lab: StudentLab, student: str, passed: Passed | None) -> dict[str, Any]:
    papers = list(dict.fromkeys(reading.paper for reading in lab.file.read))
    return {
        "lab": lab.key,
        "name": lab.file.name,
        "goal": lab.file.goal,
        "level": lab.file.level,
        "papers": papers,
        "minutes": lab.file.minutes,
        "done": is_done(lab.key, student) if passed is None else lab.key in passed,
    }


def of_student(name: str, student: str, passed: Passed | None = None) -> dict[str, Any]:
    """Raises NotThere, Malformed."""
    lab = lab_of(name, student)
    steps = [
        {
            "id": step.id, "text": step.text, "hints": len(step.hints),
            "question": None if step.predict is None else {"unit": step.predict.unit, "choices": step.predict.choices},
        }
        for step in lab.file.steps
    ]  # fmt: skip
    parts = {name: msgspec.to_builtins(getattr(lab.file, name)) for name in ("cluster", "workload", "read")}
    return {
        **row_of(lab, student, passed),
        **parts,
        "page": lab.page,
        "numbers": lab.numbers,
        "seconds": lab.file.seconds,
        "steps": steps,
    }


async def run(
    name: str, student: str, answers: dict[str, Answer], actions: list[dict[str, Any]]
) -> dict[str, Any]:
    """Raises NotThere, Malformed, Impossible."""
    lab_of(name, student)
    try:
        script = msgspec.convert({"student": student, "answers": answers, "actions": actions}, ScriptPart)
    except msgspec.ValidationError as error:
        raise Malformed(str(error)) from None
    check_script(script)
    if len(under_way) >= AT_ONCE:
        raise Impossible(f"{AT_ONCE} labs run already; try again in some seconds")
    mark = object()
    under_way.add(mark)
    try:
        async with asyncio.timeout(LIMIT_S):
            return await in_process(name, script)
    except TimeoutError:
        raise Impossible(f"the run of {name} is not over after {LIMIT_S:g} s") from None
    finally:
        under_way.discard(mark)


async def in_process(name: str, script: ScriptPart) -> dict[str, Any]:
    """Runs `python -m backend.labs.worker`; the process is gone when this returns. Raises Malformed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "backend.labs.worker", name, cwd=REPOSITORY,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        out, _ = await process.communicate(msgspec.json.encode(script))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if not out:
        raise Impossible(f"the run of {name} ended without a result")
    result: dict[str, Any] = msgspec.json.decode(out)
    if "error" in result:
        raise Malformed(result["error"])
    return result
