"""The shipped scenarios: a row of each, and one with its text."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import msgspec

from backend.errors import NotThere
from backend.scenario_runs.plan import ScenarioCheck, check_of
from backend.scenarios.family_matrix import SCENARIOS, files
from backend.scenarios.reader import data_of


class ScenarioRow(msgspec.Struct):
    file: str
    """Folder and name, without the suffix."""
    folder: str
    name: str
    """Of the first variant."""
    teaches: str
    paper: str
    protocol: str
    families: list[str]
    fabrics: list[str]
    steps: int
    variants: int
    error: str
    """Why the file cannot be read; empty for a sound one."""


class ScenarioFile(msgspec.Struct):
    file: str
    text: str
    check: ScenarioCheck


def rows() -> list[ScenarioRow]:
    """Every shipped scenario, by folder and name."""
    return [row_of(path) for path in files()]


def row_of(path: Path) -> ScenarioRow:
    key = key_of(path)
    folder = key.partition("/")[0]
    check = check_of_file(path, path.stat().st_mtime_ns)
    plan = check.plan
    if plan is None:
        assert check.error is not None
        where = f"line {check.error.line}: " if check.error.line else ""
        return ScenarioRow(key, folder, key, "", "", "", [], [], 0, 0, where + check.error.reason)
    return ScenarioRow(
        key, folder, plan.name, plan.teaches, plan.paper, plan.protocol,
        [each.name for each in plan.families if not each.refused], plan.fabrics, len(plan.steps), len(plan.variants), "",
    )  # fmt: skip


def file_named(name: str) -> ScenarioFile:
    """Raises NotThere."""
    path = {key_of(path): path for path in files()}.get(name)
    if path is None:
        raise NotThere(f"no scenario is called {name[:80]!r}; GET /api/scenarios lists them")
    text = data_of(path, "scenario").decode(errors="replace")
    return ScenarioFile(name, text, check_of_file(path, path.stat().st_mtime_ns))


@lru_cache(maxsize=1024)
def check_of_file(path: Path, changed_ns: int) -> ScenarioCheck:
    return check_of(data_of(path, "scenario"), path)


def key_of(path: Path) -> str:
    return path.relative_to(SCENARIOS).with_suffix("").as_posix()
