"""`/api/scenarios`: the shipped scenarios."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter

from backend.scenario_runs import catalogue
from backend.scenario_runs.models import ScenarioFileOut, ScenarioRowOut

router = APIRouter(prefix="/api/scenarios", tags=["scenarios"])


@router.get("", response_model=list[ScenarioRowOut])  # type: ignore[valid-type]
def read_scenarios() -> Any:
    """Every shipped scenario, with what it teaches and where it can run. It runs in a thread, because it reads files."""
    return msgspec.to_builtins(catalogue.rows())


@router.get("/{folder}/{name}", response_model=ScenarioFileOut)
def read_scenario(folder: str, name: str) -> Any:
    """The text of a shipped scenario, its steps, and the families and fabrics that can run it."""
    return msgspec.to_builtins(catalogue.file_named(f"{folder}/{name}"))
