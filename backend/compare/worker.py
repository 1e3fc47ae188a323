"""`python -m backend.compare.worker`: one configuration of a comparison, on the simulator.

It reads a `ComparisonTask` as JSON from standard input and writes JSON lines: `{"at_s"}` during the run, then `{"measured"}` or `{"error"}`.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import msgspec

from backend.compare.measures import Measured, Measures
from backend.errors import LabError, Malformed
from backend.scenarios.fabric import Simulated
from backend.scenarios.family_translation import impossible
from backend.scenarios.model import ClusterPart, ExpectPart, Scenario, StepPart
from backend.scenarios.reader import read
from backend.scenarios.runner import ScenarioRun
from backend.scenarios.translation import OF_ONE_FAMILY, translated
from nodes.config import MILLISECOND, Holes
from nodes.counters import LOGS
from nodes.trace.events import Stamped
from nodes.wire.messages import Message

REPORT_NS = 1_000_000_000


class ComparisonTask(msgspec.Struct, forbid_unknown_fields=True):
    file: str
    seed: int
    cluster: dict[str, Any]
    """Differences from the scenario's own cluster."""


def on_another(scenario: Scenario, change: dict[str, Any]) -> Scenario:
    """The same workload and faults on another cluster, without expectations. Raises Malformed."""
    own = msgspec.to_builtins(scenario.cluster)
    if change.get("protocol", own["protocol"]) != own["protocol"]:
        own |= OF_ONE_FAMILY
    if "variant" in change or "holes" in change:
        own |= {"variant": None, "holes": []}
    wanted = own | change
    try:
        cluster = msgspec.convert(wanted, ClusterPart)
    except msgspec.ValidationError as error:
        raise Malformed(f"no such cluster: {error}") from None
    unknown = [hole for hole in cluster.holes if hole not in Holes.__struct_fields__]
    if unknown:
        raise Malformed(f"{unknown[0][:40]!r} is not a hole; there are {', '.join(Holes.__struct_fields__)}")
    steps = [
        step if step.expect is None else step.left_out() for step in steps_on(scenario, cluster.protocol)
    ]
    return msgspec.structs.replace(scenario, cluster=cluster, steps=steps, expect=ExpectPart())


def steps_on(scenario: Scenario, protocol: str) -> list[StepPart]:
    """The steps in the family's terms. Raises Malformed."""
    if protocol == scenario.cluster.protocol:
        return scenario.steps
    try:
        return translated(scenario, protocol).steps
    except ValueError as error:
        raise Malformed(str(error)) from None


def measure(task: ComparisonTask) -> Measured:
    """Raises LabError when the scenario cannot be run to its end with this configuration."""
    scenario = on_another(read(Path(task.file))[0], task.cluster)
    reason = next(impossible(scenario, scenario.cluster.protocol), "")
    if reason:
        raise Malformed(f"{scenario.cluster.protocol} cannot run it: {reason}")
    run = ScenarioRun(scenario, "simulated", task.seed)
    assert isinstance(run.fabric, Simulated)
    cluster = run.fabric.cluster
    measures = Measures(run.config.timing.session_timeout_ms * MILLISECOND)
    reported_ns = 0

    def on_event(stamped: Stamped) -> None:
        nonlocal reported_ns
        measures.on_event(stamped)
        if stamped.at_ns >= reported_ns:
            reported_ns = stamped.at_ns + REPORT_NS
            say({"at_s": stamped.at_ns / 1e9})

    def on_sent(sender: str, receiver: str, message: Message) -> None:
        measures.on_message(type(message).__name__, len(cluster.net.codec.encode([message])))

    run.fabric.on_event.subscribe(on_event)
    cluster.net.on_sent.subscribe(on_sent)
    outcome = asyncio.run(run.run())
    missed = next((verdict for verdict in outcome.verdicts if not verdict.held), None)
    if missed is not None:
        raise LabError(f"{missed.expected}: {missed.seen}")
    log_writes = sum(server.store.synced.get(log, 0) for server in cluster.servers.values() for log in LOGS)
    return measures.measured(outcome.started_ns, outcome.ended_ns, log_writes, outcome.invariants)


def say(line: dict[str, Any]) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
    sys.stdout.flush()


def main() -> None:
    try:
        say({"measured": measure(msgspec.json.decode(sys.stdin.buffer.read(), type=ComparisonTask))})
    except LabError as error:
        say({"error": error.message})


if __name__ == "__main__":
    main()
