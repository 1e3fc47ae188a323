"""A failing plan as a scenario file that a person can read and run again."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from backend.errors import Malformed
from backend.scenarios.model import Scenario
from nodes.explore.files import sparse
from nodes.explore.plan import PlanOutcome

NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


def text_of(outcome: PlanOutcome) -> str:
    """The scenario file."""
    plan, failure = outcome.plan, outcome.failures[0]
    document = {
        "name": f"{plan.cluster.protocol}: {failure.invariant}",
        "teaches": failure.explanation[:300],
        "seed": plan.seed,
        "trial": {key: value for key, value in sparse(plan).items() if key != "seed"},
    }
    return yaml_of(document)


def words_of(outcome: PlanOutcome) -> str:
    """What the name of the file says."""
    return f"{outcome.plan.cluster.protocol}-{outcome.failures[0].invariant}-{outcome.plan.seed}"


def file_name(words: str) -> str:
    return f"{NOT_IN_NAMES.sub('-', words.lower()).strip('-')}.yaml"


def yaml_of(document: dict[str, Any]) -> str:
    yaml = YAML()
    yaml.default_flow_style = None
    yaml.width = 120
    stream = io.StringIO()
    yaml.dump(document, stream)
    return stream.getvalue()


def write(outcome: PlanOutcome, directory: Path) -> Path:
    """Writes the scenario file of a trial under a unique name; returns the path. Raises Malformed."""
    return write_text(words_of(outcome), text_of(outcome), directory)


def write_beside(file: Path, outcome: PlanOutcome) -> Path:
    """Writes the scenario file of a shrunk trial beside the file of the whole one; returns the path. Raises Malformed."""
    return write_text(f"{file.stem}-shrunk", text_of(outcome), file.parent)


def write_scenario(scenario: Scenario, directory: Path) -> Path:
    """Writes a scenario whose steps were shortened; returns the path. Raises Malformed."""
    return write_text(f"{scenario.name}-{scenario.seed}", yaml_of(sparse(scenario)), directory)


def write_text(words: str, text: str, directory: Path) -> Path:
    """Writes a file that replaces no other finding: the name has a number behind it where it is taken. Raises Malformed."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for number in itertools.count(1):
            path = directory / file_name(words if number == 1 else f"{words}-{number}")
            if path.is_file() and path.read_bytes() == text.encode():
                break
            with contextlib.suppress(FileExistsError), path.open("x") as file:
                file.write(text)
                break
    except OSError as error:
        raise Malformed(f"cannot write to {directory}: {error.strerror}") from None
    return path


@contextlib.contextmanager
def writable(directory: Path) -> Iterator[None]:
    """Makes the directory before a search, which may be long, and tries that it can be written; removes it when nothing was. Raises Malformed."""
    made = not directory.exists()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=directory).close()
    except OSError as error:
        raise Malformed(f"cannot write to {directory}: {error.strerror}") from None
    try:
        yield
    finally:
        if made:
            with contextlib.suppress(OSError):  # It has files.
                directory.rmdir()
