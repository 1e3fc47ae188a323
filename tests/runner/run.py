"""The list of runners and their order."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from backend.speed import slowness
from tests.chosen import EVERY, FAMILIES, FULL_LEVEL, SCENARIOS
from tests.runner import tools

ROOT = Path(__file__).resolve().parents[2]
FRONTEND = ROOT / "frontend"
MINUTE = 60
PYTEST = [sys.executable, "-m", "pytest", "-q", "-rs", "--durations=15", "--durations-min=8"]
QUICK = ("architecture", "unit", "papers", "traces", "simulation")
WORKERS = {
    "architecture": ["-n", "auto"],
    "unit": ["-n", "auto"],
    "simulation": ["-n", "auto"],
    "processes": ["-n", "2", "--dist", "loadfile"],
}
"""Suites that share the processors: tests without real time, and clusters of processes, which mostly wait."""
CLI = [sys.executable, "-m", "backend.cli"]
LEVELS = ("quick", "all", "full")
EXPLORE = {
    level: [*CLI, "explore", "--all", "--seeds", f"1..{last}"]
    for level, last in zip(LEVELS, (60, 500, 5_000), strict=True)
}
"""A share of the search for violated invariants: the same seeds each time, every family in turn; two to three minutes on two processors."""
LIMITS = {
    "simulation": 25 * MINUTE,
    "processes": 20 * MINUTE,
    "containers": 30 * MINUTE,
    "browser": 30 * MINUTE,
}
"""Limits for a slow machine; for containers an engine and images may have to be built first."""
FULL = 6
"""By so much the limits are longer at the level `full`."""
SLOW = ("conformance", "processes", "containers", "browser")

Runner = tuple[str, list[str], Path, int]
"""Name, command, directory, limit in seconds."""


def runners(level: str) -> list[Runner]:
    """The runners of a level, in order. A listed suite that is missing fails, because its tests would not be missed otherwise."""
    listed: list[Runner] = [
        ("ruff", [sys.executable, "-m", "ruff", "check", "."], ROOT, 2 * MINUTE),
        ("ruff format", [sys.executable, "-m", "ruff", "format", "--check", "."], ROOT, 2 * MINUTE),
        ("mypy", [sys.executable, "-m", "mypy"], ROOT, 5 * MINUTE),
    ]
    longer = FULL if level == "full" else 1
    for group in QUICK + (SLOW if level != "quick" else ()):
        command = [*PYTEST, *WORKERS.get(group, []), f"tests/{group}"]
        limit_s = round(LIMITS.get(group, 15 * MINUTE) * longer * (slowness() if group in SLOW else 1))
        listed.append((group, command, ROOT, limit_s))
        if group == "simulation":
            listed.append(("explore", EXPLORE[level], ROOT, 15 * MINUTE * longer))
    npm = tools.npm()
    if npm:
        listed.append(("biome", [*npm, "run", "-s", "lint"], FRONTEND, 2 * MINUTE))
        listed.append(("vitest", [*npm, "run", "-s", "test"], FRONTEND, 5 * MINUTE))
    else:
        tools.say("npm not found: biome and vitest are left out")
    return listed


def main(level: str) -> int:
    """0 when every runner passed, else 1."""
    if level != "quick":
        tools.prepare()
    # Hundreds of processes are started: without bytecode on the disk each of them compiles all that it imports.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if level == "full":
        os.environ.update(dict.fromkeys((FULL_LEVEL, FAMILIES, SCENARIOS), EVERY))
    failed = []
    for name, command, directory, limit_s in runners(level):
        print(f"\n=== {name}", flush=True)
        began = time.monotonic()
        if not passes(command, directory, limit_s):
            failed.append(name)
        print(f"--- {name}: {time.monotonic() - began:.0f} s", flush=True)
    print(f"\nfailed: {', '.join(failed)}" if failed else "\nall runners passed", flush=True)
    return 1 if failed else 0


def passes(command: list[str], directory: Path, limit_s: int) -> bool:
    """Whether a runner succeeded within its time."""
    try:
        return subprocess.run(command, cwd=directory, timeout=limit_s, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        print(f"stopped: not done within {limit_s} s", flush=True)
        return False
