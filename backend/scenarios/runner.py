"""Runs one scenario on one fabric: steps in order, expectations at their time, invariants all along."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from backend.errors import LabError, Malformed
from backend.scenarios import letters
from backend.scenarios.call_times import CallCurve, CallTimes
from backend.scenarios.conditions import Situation, condition
from backend.scenarios.durations import milliseconds, nanoseconds, per_second
from backend.scenarios.fabric import Containers, Fabric, LocalProcesses, Simulated
from backend.scenarios.facts import Facts, anybody, asks
from backend.scenarios.model import ClusterPart, EndPart, ExpectPart, Scenario, StepPart, WorkloadPart
from backend.scenarios.outages import Outages
from backend.scenarios.reader import targets
from backend.scenarios.shapes import shape_of
from backend.scenarios.step_words import sentence
from backend.scenarios.verdicts import ExpectationVerdict, Judge
from backend.shape import new_config
from nodes.config import ClusterConfig, DataConfig, Timing, WorkloadConfig
from nodes.faults.table import BY_NAME
from nodes.invariants import registry
from nodes.listeners import Listeners
from nodes.mutations import Mutations
from nodes.trace import story
from nodes.trace.events import FaultInjected, Serving, Stamped, StepTaken

START_NS = 60_000_000_000
ASK_NS = 250_000_000
RECOVER_S = 20.0
EVENTS_KEPT = 100_000
"""Number of newest events that the story of a failure is made from."""
QUIET_NS = 30_000_000_000
"""Longest wait until no operation is under way, before the namespaces are compared."""
FAULTED = re.compile(r"^target of step (\d+)$")
ELECTED = re.compile(r"^elected of (\S+)$")
FABRICS: dict[str, Callable[[ClusterConfig, int], Fabric]] = {
    "simulated": Simulated,
    "processes": LocalProcesses,
    "containers": Containers,
}


def never() -> bool:
    return False


class GroupRows(msgspec.Struct):
    """The state rows of one group."""

    name: str
    servers: list[str]
    rows: list[letters.LetterRow]


class StepResult(msgspec.Struct):
    """A step of a scenario under way or over."""

    number: int
    text: str
    state: Literal["waiting", "done", "failed"]
    at_ns: int
    """When it began to wait, or was over, in ns since the workload began."""
    why: str = ""
    """Why it failed."""


class ScenarioOutcome(msgspec.Struct):
    """Result of a run; `held` is true when every expectation held."""

    name: str
    teaches: str
    paper: str
    on: str
    seed: int
    scale: float
    held: bool
    verdicts: list[ExpectationVerdict]
    groups: list[GroupRows]
    started_ns: int
    ended_ns: int
    calls: int
    failed_calls: int
    longest_outage_ms: float
    invariants: list[dict[str, Any]]
    timeline: list[tuple[int, str, str]]
    """Faults, numbered steps and service as (ns since the workload began, server, text)."""
    story: list[str] = []
    """Lines of the story that led to the first violated invariant or, without one, to the end of a run with an unmet expectation. Empty when all
    held."""
    steps: list[StepResult] = []
    curve: CallCurve | None = None


class ScenarioRun:
    """One scenario under way. Every time of the file is multiplied by `scale`."""

    def __init__(self, scenario: Scenario, on: str, seed: int, scale: float = 1.0):
        self._scenario = scenario
        self._on, self._seed, self._scale = on, seed, scale
        self.config = cluster_config(scenario.cluster, scale)
        self._invariants = registry.start(self.config)
        self._outages = Outages()
        self._call_times = CallTimes()
        self._steps: dict[int, StepResult] = {}
        self.on_step: Listeners[StepResult] = Listeners()
        """Called with each step as it begins to wait, and as it is over."""
        self._rows = {
            group.name: letters.Rows(group.name, list(group.members)) for group in self.config.groups
        }
        self._timeline: list[tuple[int, str, str]] = []
        self._events: deque[Stamped] = deque(maxlen=EVENTS_KEPT)
        self._verdicts: list[ExpectationVerdict] = []
        self._began_ns = 0
        self._over = False
        """True once the cluster is being ended; later changes of the view add no rows."""
        self.fabric: Fabric = FABRICS[on](self.config, seed)
        self._situation = Situation(self.fabric.picture)
        self.fabric.on_event.subscribe(self._on_event)
        self._facts = Facts()
        self._judge = Judge(
            self._situation, self._invariants, self._outages, self._rows, self._facts, self._ns
        )
        self._undo: list[tuple[int, str, list[str], dict[str, Any]]] = []
        self._faulted: dict[int, list[str]] = {}
        """Servers that a step's targets resolved to, by number of the step."""

    # --- events ----------------------------------------------------------------------------------------------------

    def _on_event(self, stamped: Stamped) -> None:
        self._invariants.on_event(stamped)
        self._events.append(stamped)
        self._outages.on_event(stamped)
        self._call_times.on_event(stamped)
        if not self._over:
            for rows in self._rows.values():
                rows.on_event(stamped)
        self._situation.on_event(stamped)
        event = stamped.event
        if type(event) is FaultInjected:
            self._report(stamped, f"{event.verb} {' '.join(event.targets)}")
        elif type(event) is StepTaken:
            self._report(stamped, f"{event.procedure} {event.step}: {event.detail}")
        elif type(event) is Serving:
            self._report(stamped, f"serves from sn {event.sn} in epoch {event.epoch}")

    def _report(self, stamped: Stamped, what: str) -> None:
        self._timeline.append((stamped.at_ns, stamped.server, what))

    @property
    def began_ns(self) -> int:
        """When the workload began; 0 before it."""
        return self._began_ns

    # --- running ---------------------------------------------------------------------------------------------------

    def _ns(self, text: str) -> int:
        return round(nanoseconds(text) * self._scale)

    async def run(self) -> ScenarioOutcome:
        """Raises LabError when the fabric cannot run the scenario."""
        try:
            await self.fabric.start()
            if await self._wait("the cluster is settled", START_NS, lambda: self._situation.settled):
                await self._follow()
                await self._look()
        finally:
            self._over = True
            await self.fabric.stop()
        self._invariants.finish()
        self._judged(self._scenario.expect)
        return self._outcome()

    async def _until(self, at_ns: int, true: Callable[[], bool]) -> bool:
        """Runs the cluster until a condition holds or a time has come; undoes faults whose time is over."""
        while self._undo and self._undo[0][0] <= at_ns:
            due_ns, verb, names, options = self._undo[0]
            if await self.fabric.run_until(due_ns, true):
                return True
            self._undo.pop(0)
            await self.fabric.fault(verb, names, options)
        return await self.fabric.run_until(at_ns, true)

    async def _wait(self, what: str, within_ns: int, true: Callable[[], bool]) -> bool:
        if await self._until(self.fabric.now_ns + within_ns, true):
            return True
        row = " ".join(rows.all[-1].letters for rows in self._rows.values() if rows.all) or "nothing"
        self._verdicts.append(
            ExpectationVerdict(f"{what} within {within_ns / 1e9:g} s", False, f"the view is {row}")
        )
        return False

    async def _follow(self) -> None:
        if self._scenario.workload is not None:
            await self.fabric.begin_workload(workload_config(self._scenario.workload, self._scale))
        self._began_ns = before_ns = self.fabric.now_ns
        self._situation.begin_count()
        for number, step in enumerate(self._scenario.steps, 1):
            self._ticked(number, "waiting")
            judged = len(self._verdicts)
            try:
                begun = await self._begin(step, before_ns, number)
                before_ns = self.fabric.now_ns
                if begun:
                    await self._do(step, number)
            except LabError as error:
                self._ticked(number, "failed", error.message)
                raise
            missed = [f"{each.expected}: {each.seen}" for each in self._verdicts[judged:] if not each.held]
            self._ticked(number, "failed" if missed else "done", "; ".join(missed))
            if not begun:
                return
        await self._end(self._scenario.end)

    def _ticked(self, number: int, state: Literal["waiting", "done", "failed"], why: str = "") -> None:
        at_ns = self.fabric.now_ns - self._began_ns
        text = sentence(self._scenario.steps[number - 1])
        self._steps[number] = StepResult(number, text, state, at_ns, why.replace(f"step {number}: ", ""))
        self.on_step(self._steps[number])

    async def _begin(self, step: StepPart, before_ns: int, number: int) -> bool:
        """Waits until the step is due."""
        if step.when is not None:
            true = condition(step.when)
            return await self._wait(f"step {number}: {step.when}", START_NS, lambda: true(self._situation))
        at_ns = self.fabric.now_ns
        if step.at is not None:
            at_ns = self._began_ns + self._ns(step.at)
        elif step.after is not None:
            at_ns = before_ns + self._ns(step.after)
        await self._until(at_ns, never)
        return True

    async def _do(self, step: StepPart, number: int) -> None:
        """Does a step's action. Events that arrive before the action returns already count for the next step."""
        if step.expect is not None:
            await self._hold(step.expect, self._ns(step.within or "0s"))
            self._judged(step.expect, f"step {number}: ")
        self._situation.begin_step()
        if step.fault is not None:
            words = [name for word in targets(step) for name in self._named(word)]
            options = dict(step.options)
            names = self._faulted[number] = await self.fabric.fault(step.fault, words, options)
            undo = BY_NAME[step.fault].undo
            if step.span is not None and undo is not None:
                due_ns = self.fabric.now_ns + self._ns(step.span)
                self._undo.append((due_ns, undo.verb, names, undo.options))
                self._undo.sort(key=lambda undo: undo[0])
        elif step.workload is not None:
            rate = None if step.workload.rate is None else per_second(step.workload.rate)
            await self.fabric.throttle(rate, step.workload.paused)
        elif step.mark is not None:
            await self.fabric.begin_asking(
                anybody(self._situation), {"do": "mark_checkpoint", "name": step.mark}
            )
        elif step.recover is not None:
            await self._recover(step.recover, number)

    async def _recover(self, name: str, number: int) -> None:
        """Orders a recovery from any server; a refusal is recorded as a failed expectation."""
        question = {"do": "recover", "name": name, "waits": True}
        answer = await self.fabric.ask(anybody(self._situation), question, RECOVER_S)
        refused = str(answer.get("refused", ""))
        self._verdicts.append(
            ExpectationVerdict(f"step {number}: recover {name}", not refused, refused or "begun")
        )

    def _named(self, word: str) -> list[str]:
        """Resolves names that depend on the run. `target of step 3`: the servers that step 3 hit. `elected of g1`: the server that took the last
        step of an upgrade. `time server`: the server that marks a checkpoint."""
        situation = self._situation
        if word == "time server" and situation.time_server:
            return [situation.time_server]
        if (found := ELECTED.match(word)) and found[1] in situation.upgrading:
            return [situation.upgrading[found[1]]]
        if found := FAULTED.match(word):
            return self._faulted.get(int(found[1])) or [word]
        return [word]

    async def _look(self) -> None:
        """Queries checkpoints, namespaces and blocks for the expectations at the end, while servers still run. The cluster is idle then, because
        a block that is being written does not count as whole."""
        expect = self._scenario.expect
        still = expect.fsck is not None or expect.blocks is not None
        if not still and not asks(expect):
            return
        if still and self._scenario.workload is not None:
            await self.fabric.throttle(None, True)
        asked = ExpectPart(fsck=expect.fsck, checkpoints=expect.checkpoints, blocks=expect.blocks)
        await self._hold(asked, round(QUIET_NS * self._scale))

    async def _end(self, end: EndPart) -> None:
        if end.at is not None:
            await self._until(self._began_ns + self._ns(end.at), never)
            return
        if self._undo:
            await self._until(self._undo[-1][0], never)
        assert end.when is not None
        true = condition(end.when)
        await self._wait(f"end: {end.when}", self._ns(end.within), lambda: true(self._situation))

    # --- expectations ----------------------------------------------------------------------------------------------

    async def _hold(self, expect: ExpectPart, within_ns: int) -> None:
        """Waits until all expectations hold, or until the time is over."""
        until_ns = self.fabric.now_ns + within_ns
        if not asks(expect):
            await self._until(until_ns, lambda: self._holds(expect))
            return
        await self._facts.ask(self.fabric, self._situation, expect)
        while not self._holds(expect) and self.fabric.now_ns < until_ns:
            await self._until(min(until_ns, self.fabric.now_ns + ASK_NS), never)
            await self._facts.ask(self.fabric, self._situation, expect)

    def _holds(self, expect: ExpectPart) -> bool:
        return all(verdict.held for verdict in self._judge.verdicts(expect))

    def _judged(self, expect: ExpectPart, where: str = "") -> None:
        for verdict in self._judge.verdicts(expect):
            self._verdicts.append(msgspec.structs.replace(verdict, expected=where + verdict.expected))

    def _story(self, held: bool) -> list[str]:
        failed = next(iter(self._invariants.failures), None)
        if held and failed is None:
            return []
        return story.failure(list(self._events), failed.evidence if failed else (), self._began_ns)

    def _outcome(self) -> ScenarioOutcome:
        scenario = self._scenario
        held = all(verdict.held for verdict in self._verdicts)
        timeline = [(at_ns - self._began_ns, server, what) for at_ns, server, what in sorted(self._timeline)]
        return ScenarioOutcome(
            scenario.name, scenario.teaches, scenario.paper, self._on, self._seed, self._scale,
            held, self._verdicts,
            [GroupRows(name, rows.servers, rows.all) for name, rows in self._rows.items()],
            self._began_ns, self.fabric.now_ns, self._outages.calls, self._outages.failed,
            self._outages.longest_ns / 1e6, self._invariants.invariants(), timeline,
            self._story(held), list(self._steps.values()), self._call_times.curve(self._began_ns, self.fabric.now_ns),
        )  # fmt: skip


def cluster_config(part: ClusterPart, scale: float) -> ClusterConfig:
    def scaled(text: str) -> int:
        return max(1, round(milliseconds(text) * scale))

    timing = Timing(
        heartbeat_ms=scaled(part.heartbeat),
        session_timeout_ms=scaled(part.session_timeout),
        ack_timeout_ms=scaled(part.ack_timeout),
        client_timeout_ms=scaled(part.client_timeout),
        renew_scan_ms=scaled(part.renew_scan),
        grant_ms=scaled(part.grant),
    )
    mutations = Mutations(**dict.fromkeys(part.mutations, True))
    config = new_config(shape_of(part), "clover")
    data = DataConfig(
        config.data.nodes,
        *(
            max(1, round(ms * scale))
            for ms in (config.data.heartbeat_ms, config.data.silence_ms, config.data.scrub_ms)
        ),
    )
    return msgspec.structs.replace(
        config,
        timing=timing,
        data=data,
        mutations=mutations,
        min_in_step=part.min_in_step,
        image_gap=part.image_gap,
        image_every=part.image_every,
        log_bytes=part.log_bytes,
        image_store=part.image_store,
    )


def workload_config(part: WorkloadPart, scale: float) -> WorkloadConfig:
    return WorkloadConfig(
        clients=part.clients,
        rate_per_s=per_second(part.rate),
        mix=dict(part.mix),
        directories=part.directories,
        size=part.size,
        block_size=part.block_size,
    )


async def run(scenario: Scenario, on: str, seed: int, scale: float = 1.0) -> ScenarioOutcome:
    """Raises LabError."""
    try:
        return await ScenarioRun(scenario, on, seed, scale).run()
    except KeyError as error:
        raise Malformed(f"{scenario.name}: {error} is not there") from None
