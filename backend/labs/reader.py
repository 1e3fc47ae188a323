"""The reader of labs and of students' scripts; errors name the file and the line."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from backend.errors import Malformed, NotThere
from backend.labs.model import CheckPart, LabFile, LabStep, PredictionPart, ScriptPart
from backend.labs.values import wrong
from backend.repository import REPOSITORY
from backend.scenarios import reader
from backend.scenarios.durations import per_second
from backend.scenarios.model import EndPart, ExpectPart, Scenario
from backend.scenarios.reader import Lines
from backend.suggestion import nearest
from nodes.faults.table import BY_NAME

LABS = REPOSITORY / "labs"
PAGE_BYTES_MAX = 100_000
SERVERS_MAX = 16
CLIENTS_MAX = 64
RATE_MAX = 500.0
"""Calls per second of a lab's workload."""
NAME = re.compile(r"^[a-z][a-z0-9-]{0,39}$")
WORD = re.compile(r"\{([a-z][a-z0-9-]*)\}")
FACTS = ("fsck", "blocks", "checkpoints")
"""Expectations that need queries to servers. A lab reads events only."""


@dataclass(frozen=True)
class StudentLab:
    """A lab with the numbers of one student."""

    key: str
    """Name of its folder."""
    file: LabFile
    page: str
    """Markdown of `lab.md`."""
    numbers: dict[str, int]

    def step(self, id: str) -> LabStep:
        """Raises NotThere."""
        for step in self.file.steps:
            if step.id == id:
                return step
        raise NotThere(
            f"{self.key} has no step {id[:40]!r}; there are {', '.join(s.id for s in self.file.steps)}"
        )


def names(folder: Path = LABS) -> list[str]:
    """The names of all labs."""
    return sorted(path.parent.name for path in folder.glob("*/lab.yaml"))


def lab_of(name: str, student: str, folder: Path = LABS) -> StudentLab:
    """The lab with a student's numbers. Raises NotThere for an unknown lab, Malformed with file and line for a wrong file."""
    if name not in names(folder):
        raise NotThere(f"no lab is called {name[:40]!r}{nearest(name, names(folder))}")
    return read(folder / name, student)


def read(folder: Path, student: str) -> StudentLab:
    """Raises Malformed with file and line."""
    path = folder / "lab.yaml"
    if not NAME.match(folder.name):
        raise Malformed(f"{folder}: the folder of a lab has a name of small letters, digits and dashes")
    document, lines = parsed(path, changed_ns(path))
    numbers = of_student(document, folder.name, student)
    file = converted(document, lines, numbers)
    for name, values in file.numbers.items():
        for value in values:
            converted(document, lines, numbers | {name: value})
    return StudentLab(folder.name, file, filled(page_of(folder, numbers), numbers), numbers)


@lru_cache(maxsize=64)
def parsed(path: Path, changed_ns: int) -> tuple[Any, Lines]:
    """Parses each version of a file once: that takes twenty times as long as everything else."""
    return reader.load(path, "lab")


def changed_ns(path: Path) -> int:
    """Time of the last change; 0 without a file, which the reader reports."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def of_student(document: Any, lab: str, student: str) -> dict[str, int]:
    """The student's numbers: drawn by lab, number and name, so that two students differ and one always has the same."""
    given = document.get("numbers") if isinstance(document, dict) else None
    return {
        str(name): random.Random(f"{lab}/{name}/{student.strip().lower()}").choice(values)
        for name, values in (given.items() if isinstance(given, dict) else ())
        if isinstance(values, list) and values
    }


def page_of(folder: Path, numbers: dict[str, int]) -> str:
    """Raises Malformed."""
    path = folder / "lab.md"
    try:
        with path.open("rb") as file:
            data = file.read(PAGE_BYTES_MAX + 1)
        text = data.decode()
    except OSError as error:
        raise Malformed(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Malformed(f"{path}: not UTF-8 text") from None
    if len(data) > PAGE_BYTES_MAX:
        raise Malformed(f"{path}: a page of a lab has at most {PAGE_BYTES_MAX} bytes, this one has more")
    for number, line in enumerate(text.splitlines(), 1):
        unknown = [word for word in WORD.findall(line) if word not in numbers]
        if unknown:
            raise Malformed(f"{path}:{number}: {unknown[0]!r} is not a number of this lab")
    return text


def filled(text: str, numbers: dict[str, int]) -> str:
    for name, value in numbers.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def converted(document: Any, lines: Lines, numbers: dict[str, int]) -> LabFile:
    """The lab with these numbers. Raises Malformed."""
    for name, value in numbers.items():
        document = reader.replaced(document, "{" + name + "}", str(value))
    try:
        lab = msgspec.convert(document, LabFile, strict=False)
    except msgspec.ValidationError as error:
        raise lines.wrong(*reader.reported(str(error))) from None
    check(lab, lines)
    return lab


def read_script(path: Path) -> ScriptPart:
    """Raises Malformed with file and line."""
    document, lines = reader.load(path, "script")
    try:
        script = msgspec.convert(document, ScriptPart)
    except msgspec.ValidationError as error:
        raise lines.wrong(*reader.reported(str(error))) from None
    check_actions(script, lines)
    return script


def check_script(script: ScriptPart) -> None:
    """Checks a script that is no file. Raises Malformed."""
    check_actions(script, Lines(Path("actions"), None))


def check_actions(script: ScriptPart, lines: Lines) -> None:
    for place, action in enumerate(script.actions):
        if action.expect is not None:
            raise lines.wrong("an action is a fault, workload, mark or recover", ["actions", place])
        reader.check_step(action, lines, ["actions", place])


def scenario_of(lab: LabFile, script: ScriptPart) -> Scenario:
    """The run of a lab: its cluster and workload with the student's actions. The lab's checks judge it, not the scenario's."""
    return Scenario(
        name=lab.name,
        teaches=lab.goal,
        cluster=lab.cluster,
        workload=lab.workload,
        steps=script.actions,
        end=EndPart(at=f"{lab.seconds}s"),
        expect=ExpectPart(),
    )


# --- meaning ---------------------------------------------------------------------------------------------------------


def check(lab: LabFile, lines: Lines) -> None:
    """Checks the constraints that types do not express. Raises Malformed."""
    reader.check(scenario_of(lab, ScriptPart()), lines)
    servers = lab.cluster.groups * (lab.cluster.standbys + 1)
    if servers > SERVERS_MAX:
        raise lines.wrong(f"a lab has at most {SERVERS_MAX} servers, this one has {servers}", ["cluster"])
    if lab.workload.clients > CLIENTS_MAX:
        raise lines.wrong(f"a lab has at most {CLIENTS_MAX} clients", ["workload", "clients"])
    if not 0 < per_second(lab.workload.rate) <= RATE_MAX:
        raise lines.wrong(f"a lab has at most {RATE_MAX:g} calls per second", ["workload", "rate"])
    groups = [f"g{number}" for number in range(1, lab.cluster.groups + 1)]
    ids: set[str] = set()
    for place, step in enumerate(lab.steps):
        where: list[str | int] = ["steps", place]
        if step.id in ids:
            raise lines.wrong(f"two steps are called {step.id!r}", [*where, "id"])
        ids.add(step.id)
        if (step.predict is None) == (step.check is None):
            raise lines.wrong("a step has either `predict` or `check`", where)
        if step.predict is not None:
            check_prediction(step.predict, groups, lines, [*where, "predict"])
        if step.check is not None:
            check_check(step.check, groups, lines, [*where, "check"])
        if step.predict is not None and any(earlier.check is not None for earlier in lab.steps[:place]):
            raise lines.wrong("a prediction stands before the first check", where)


def check_prediction(asked: PredictionPart, groups: list[str], lines: Lines, place: list[str | int]) -> None:
    problem = wrong(asked.value, groups)
    if problem:
        raise lines.wrong(problem, [*place, "value"])
    if asked.choices and asked.tolerance:
        raise lines.wrong("a choice has no tolerance", [*place, "tolerance"])


def check_check(part: CheckPart, groups: list[str], lines: Lines, place: list[str | int]) -> None:
    given = [name for name in ("fault", "expect", "bound") if getattr(part, name) is not None]
    if len(given) != 1:
        raise lines.wrong("a check has one of fault, expect and bound", place)
    if part.fault is not None:
        for verb in [part.fault.verb] if isinstance(part.fault.verb, str) else part.fault.verb:
            if verb not in BY_NAME:
                raise lines.wrong(
                    f"{verb[:40]!r} is not a fault; there are {', '.join(BY_NAME)}", [*place, "fault", "verb"]
                )
    if part.expect is not None:
        check_expect(part.expect, groups, lines, [*place, "expect"])
    if part.bound is not None:
        problem = wrong(part.bound.value, groups)
        if problem:
            raise lines.wrong(problem, [*place, "bound", "value"])
        if part.bound.least is None and part.bound.most is None and part.bound.equals is None:
            raise lines.wrong("a bound has least, most or equals", [*place, "bound"])


def check_expect(expect: ExpectPart, groups: list[str], lines: Lines, place: list[str | int]) -> None:
    reader.check_expect(expect, lines, place)
    if expect.group not in groups:
        raise lines.wrong(
            f"no group is called {expect.group[:40]!r}; there are {', '.join(groups)}", [*place, "group"]
        )
    for name in FACTS:
        if getattr(expect, name):
            raise lines.wrong(f"a lab reads events only; {name} needs questions to servers", [*place, name])
