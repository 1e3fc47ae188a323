"""The reader of papers and mechanisms; errors name the file and the line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import msgspec

from backend.errors import Malformed, NotThere
from backend.papers.model import MechanismFile, PaperFile
from backend.repository import REPOSITORY
from backend.scenarios import reader
from backend.scenarios.durations import per_second
from backend.scenarios.model import EndPart, ExpectPart, Scenario
from backend.scenarios.reader import Lines, MalformedFile
from backend.suggestion import nearest

PAPERS = REPOSITORY / "papers"
FENCE = b"---\n"
NAME = re.compile(r"^[a-z][a-z0-9-]{0,39}$")
RATE_MAX = 500.0
"""Calls per second of a mechanism's workload."""
Found = TypeVar("Found")


@dataclass(frozen=True)
class Mechanism:
    key: str
    """Name of its file."""
    file: MechanismFile
    page: str
    """Markdown below the head."""


@dataclass(frozen=True)
class Paper:
    key: str
    """Name of its folder."""
    file: PaperFile
    mechanisms: list[Mechanism]


def papers(folder: Path = PAPERS) -> list[Paper]:
    """All papers in their order. Raises Malformed with file and line."""
    found = [paper_in(path.parent) for path in folder.glob("*/paper.yaml")]
    return sorted(found, key=lambda paper: paper.file.number)


def paper_in(folder: Path) -> Paper:
    """Raises Malformed with file and line."""
    mechanisms = [latest(mechanism_of, path) for path in folder.glob("*.md")]
    return Paper(
        folder.name,
        latest(paper_of, folder / "paper.yaml"),
        sorted(mechanisms, key=lambda mechanism: (mechanism.file.number, mechanism.key)),
    )


def mechanism_named(paper: str, name: str, folder: Path = PAPERS) -> Mechanism:
    """Raises NotThere, Malformed."""
    if not (NAME.match(paper) and (folder / paper / "paper.yaml").is_file()):
        raise NotThere(f"no paper is called {paper[:40]!r}; GET /api/papers lists them")
    paths = {path.stem: path for path in (folder / paper).glob("*.md")}
    if name not in paths:
        raise NotThere(f"{paper} has no mechanism {name[:40]!r}{nearest(name, paths)}")
    return latest(mechanism_of, paths[name])


def latest(of: Callable[[Path, int], Found], path: Path) -> Found:
    """Reads each version of a file once: parsing takes longer than everything else. Raises Malformed."""
    try:
        return of(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise Malformed(f"{path}: {error.strerror}") from None


@lru_cache(maxsize=64)
def paper_of(path: Path, changed_ns: int) -> PaperFile:
    document, lines = reader.load(path, "paper")
    try:
        paper = msgspec.convert(document, PaperFile)
    except msgspec.ValidationError as error:
        raise lines.wrong(*reader.reported(str(error))) from None
    names = [experiment.name for experiment in paper.experiments]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise lines.wrong(f"two experiments are called {name!r}", ["experiments", place, "name"])
    return paper


@lru_cache(maxsize=256)
def mechanism_of(path: Path, changed_ns: int) -> Mechanism:
    if not NAME.match(path.stem):
        raise MalformedFile(path, "the name of a mechanism has small letters, digits and dashes")
    data = reader.data_of(path, "mechanism")
    head, fence, page = data.removeprefix(FENCE).partition(b"\n" + FENCE)
    if not data.startswith(FENCE) or not fence:
        raise MalformedFile(path, "a mechanism begins with its keys between two lines `---`", 1)
    document, lines = reader.parsed(FENCE + head, path, "mechanism")
    try:
        file = msgspec.convert(document, MechanismFile)
        text = page.decode().strip()
    except msgspec.ValidationError as error:
        raise lines.wrong(*reader.reported(str(error))) from None
    except UnicodeDecodeError:
        raise MalformedFile(path, "not UTF-8 text") from None
    check(file, lines)
    if not text:
        raise MalformedFile(path, "the page is empty")
    return Mechanism(path.stem, file, text)


def check(file: MechanismFile, lines: Lines) -> None:
    """Checks the constraints that types do not express. Raises Malformed."""
    reader.check(scenario_of(file), lines)
    if not 0 < per_second(file.workload.rate) <= RATE_MAX:
        raise lines.wrong(f"at most {RATE_MAX:g} calls per second", ["workload", "rate"])
    for place, step in enumerate(file.steps):
        where: list[str | int] = ["steps", place, "do"]
        reader.check_step(step.do, lines, where)
        timed = [name for name in ("at", "after", "when", "span") if getattr(step.do, name) is not None]
        if timed or step.do.expect is not None:
            raise lines.wrong("a button has no time, no condition and no expectation", where)


def scenario_of(file: MechanismFile) -> Scenario:
    """Cluster and workload, as a scenario checks them."""
    return Scenario(
        name=file.name, teaches=file.about, cluster=file.cluster, workload=file.workload,
        end=EndPart(at="1s"), expect=ExpectPart(),
    )  # fmt: skip
