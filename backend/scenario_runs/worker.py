"""`python -m backend.scenario_runs.worker`: one run of a scenario, on the simulator or on processes.

It reads a `ScenarioTask` as a JSON line from standard input and writes JSON lines: `{"directory"}` of a cluster of processes, `{"at_s"}` and
`{"step"}` during the run, then `{"outcome"}` or `{"error"}`. It ends its cluster and itself when standard input is closed.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import threading
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from backend.errors import LabError
from backend.scenario_runs.plan import TEXT
from backend.scenarios.fabric import Live
from backend.scenarios.family_translation import on_family
from backend.scenarios.reader import read_data
from backend.scenarios.runner import ScenarioOutcome, ScenarioRun, StepResult
from nodes.trace.events import Stamped

MEMORY_BYTES = 2 << 30
REPORT_NS = 500_000_000
FabricOfPage = Literal["simulated", "processes"]


class ScenarioTask(msgspec.Struct, forbid_unknown_fields=True):
    text: str
    variant: int
    on: FabricOfPage
    protocol: str
    seed: int
    scale: float


def run_of(task: ScenarioTask) -> ScenarioRun:
    """The run, which says how far it is. Raises LabError when the scenario is wrong."""
    scenario = read_data(task.text.encode(), TEXT).scenarios[task.variant]
    run = ScenarioRun(on_family(scenario, task.protocol), task.on, task.seed, task.scale)
    reported_ns = 0

    def on_event(stamped: Stamped) -> None:
        nonlocal reported_ns
        if run.began_ns and stamped.at_ns >= reported_ns:
            reported_ns = stamped.at_ns + REPORT_NS
            say({"at_s": max(0.0, (stamped.at_ns - run.began_ns) / 1e9)})

    def on_step(step: StepResult) -> None:
        say({"step": step})

    run.fabric.on_event.subscribe(on_event)
    run.on_step.subscribe(on_step)
    return run


def outcome_of(task: ScenarioTask) -> ScenarioOutcome:
    """Raises LabError when the scenario is wrong, or cannot be run to its end, and CancelledError when standard input is closed before."""
    run = run_of(task)
    if isinstance(run.fabric, Live):
        say({"directory": str(run.fabric.directory)})
        return asyncio.run(until_closed(run))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    when_closed(lambda: os._exit(1))
    return asyncio.run(run.run())


async def until_closed(run: ScenarioRun) -> ScenarioOutcome:
    loop, running = asyncio.get_running_loop(), asyncio.create_task(run.run())
    when_closed(lambda: loop.call_soon_threadsafe(running.cancel))
    return await running


def when_closed(act: Callable[[], object]) -> None:
    """Acts once standard input is closed."""

    def follow() -> None:
        while os.read(0, 4096):
            pass
        act()

    threading.Thread(target=follow, daemon=True).start()


def say(line: dict[str, Any]) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
    sys.stdout.flush()


def main() -> None:
    try:
        say({"outcome": outcome_of(msgspec.json.decode(sys.stdin.buffer.readline(), type=ScenarioTask))})
    except LabError as error:
        say({"error": error.message})
    except MemoryError:
        say({"error": f"the run needs more than {MEMORY_BYTES >> 30} GiB"})
    except asyncio.CancelledError:
        sys.exit(1)


if __name__ == "__main__":
    main()
