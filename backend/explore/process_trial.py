"""One trial on real processes of this machine: the same plan, load, faults and audit as on the simulator."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from backend.explore.real_stage import RealStage
from backend.explore.trial_fabric import TrialFabric
from backend.fabrics.home import Home
from backend.speed import slowness
from nodes.config import Timing
from nodes.explore.audit import Audited
from nodes.explore.calls import Caller
from nodes.explore.plan import Fault, Plan, PlanOutcome
from nodes.explore.trial import Trial
from nodes.sim.conditions import CALM

SESSION_MS = 1_000
"""Session length that servers on an idle machine can hold; a shorter session ends while a process waits for a processor."""
HELD_BACK_NS = 500_000_000
"""Time for which events are held back: a process that is suspended between an event and its write must not change the order that the checks see.
"""


def default_scale(plan: Plan) -> float:
    """The scale at which the session lasts as long as real processes can hold it on this machine."""
    return max(1.0, SESSION_MS * slowness() / plan.cluster.timing.session_timeout_ms)


def run_on_processes(plan: Plan, scale: float | None = None) -> PlanOutcome:
    """Runs a plan with every time multiplied by `scale`. Raises LabError when the cluster does not start at all."""
    scaled_plan = scaled(plan, default_scale(plan) if scale is None else scale)
    with tempfile.TemporaryDirectory(prefix="cloverlab-trial-") as directory:
        home = Home.make(Path(directory), scaled_plan.cluster, plan.seed)
        stage = RealStage(scaled_plan.cluster, lambda listen: TrialFabric(home, listen, None))
        stage.fabric.traces.hold_back_ns = HELD_BACK_NS
        trial = Trial(scaled_plan, stage=stage)
        try:
            stage.start()
            trial.carry_out()
        finally:
            stage.stop()
        note_bugs(trial, stage)
        outcome = trial.judged()
    return replace(outcome, plan=plan)


def note_bugs(audited: Audited, stage: RealStage) -> None:
    """Records an exception in any process as a failure, whatever its effect."""
    assert isinstance(stage.fabric, TrialFabric)
    for name, line in stage.fabric.tracebacks().items():
        audited.fail("no exception", name, f"{name}: {line}")
    for line in stage.errors[:3]:
        audited.fail("no exception", "client", line)


def scaled(plan: Plan, scale: float) -> Plan:
    """The same plan, slower. Delays and disks are those of this machine."""
    ms = partial(_longer, scale)
    timing = plan.cluster.timing
    data = plan.cluster.data
    cluster = replace(
        plan.cluster,
        timing=replace(timing, **{name: ms(getattr(timing, name)) for name in Timing.__struct_fields__}),
        data=replace(
            data,
            heartbeat_ms=ms(data.heartbeat_ms),
            silence_ms=ms(data.silence_ms),
            scrub_ms=ms(data.scrub_ms),
        ),
    )
    return replace(
        plan,
        cluster=cluster,
        conditions=CALM,
        callers=[_slower(caller, scale) for caller in plan.callers],
        faults=[_later(fault, scale) for fault in plan.faults],
        span_ms=ms(plan.span_ms),
        unsettled_ms=None if plan.unsettled_ms is None else ms(plan.unsettled_ms),
    )


def _longer(scale: float, duration: int) -> int:
    return round(duration * scale)


def _slower(caller: Caller, scale: float) -> Caller:
    names = ("pause_us", "every_us", "start_ms", "dies_ms")
    return replace(caller, **{name: _longer(scale, getattr(caller, name)) for name in names})


def _later(fault: Fault, scale: float) -> Fault:
    options = dict(fault.options)
    if "ms" in options and fault.verb != "skew_clock":
        options["ms"] = _longer(scale, options["ms"])
    return replace(
        fault, options=options, at_ms=_longer(scale, fault.at_ms), for_ms=_longer(scale, fault.for_ms)
    )
