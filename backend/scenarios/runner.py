"""Runs one scenario on one fabric: steps in order, expectations at their time, checks all along."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from backend.errors import LabError
from backend.scenarios import letters
from backend.scenarios.conditions import Situation, condition
from backend.scenarios.durations import milliseconds, nanoseconds, per_second
from backend.scenarios.fabric import Containers, Fabric, Processes, Simulated
from backend.scenarios.model import ClusterPart, EndPart, ExpectPart, Scenario, StepPart, WorkloadPart
from backend.scenarios.outages import Outages
from backend.scenarios.reading import targets
from backend.shape import Shape, new_config
from nodes.config import ClusterConfig, Holes, Timing, WorkloadConfig
from nodes.invariants import registry
from nodes.trace.events import FaultInjected, Serving, Stamped, StepTaken

START_NS = 60_000_000_000
STRUCK = re.compile(r"^target of step (\d+)$")
UNDO = {"crash": "restart", "stop": "restart", "power_loss": "restart", "pause": "resume", "cut": "heal",
        "delay": "heal", "lose": "heal", "duplicate": "heal", "reorder": "heal"}  # fmt: skip
FABRICS: dict[str, Callable[[ClusterConfig, int], Fabric]] = {
    "simulated": Simulated,
    "processes": Processes,
    "containers": Containers,
}


def never() -> bool:
    return False


class Verdict(msgspec.Struct):
    """One expectation and what came of it."""

    expected: str
    held: bool
    seen: str


class GroupRows(msgspec.Struct):
    """The state rows of one group."""

    name: str
    servers: list[str]
    rows: list[letters.Row]


class Outcome(msgspec.Struct):
    """What a run showed; `held` when every expectation did."""

    name: str
    teaches: str
    paper: str
    on: str
    seed: int
    scale: float
    held: bool
    verdicts: list[Verdict]
    groups: list[GroupRows]
    started_ns: int
    ended_ns: int
    calls: int
    failed_calls: int
    longest_outage_ms: float
    lamps: list[dict[str, Any]]
    timeline: list[tuple[int, str, str]]
    """(ns since the workload began, server, what): faults, numbered steps, service."""


class Run:
    """One scenario under way. Every time of the file is multiplied by `scale`."""

    def __init__(self, scenario: Scenario, on: str, seed: int, scale: float = 1.0):
        self._scenario = scenario
        self._on, self._seed, self._scale = on, seed, scale
        self.config = cluster_config(scenario.cluster, scale)
        self._lamps = registry.start(self.config)
        self._outages = Outages()
        self._rows = {
            group.name: letters.Rows(group.name, list(group.members)) for group in self.config.groups
        }
        self._timeline: list[tuple[int, str, str]] = []
        self._verdicts: list[Verdict] = []
        self._began_ns = 0
        self._over = False
        """The cluster is being ended: rows are told no more."""
        self.fabric: Fabric = FABRICS[on](self.config, seed)
        self._situation = Situation(self.fabric.picture)
        self.fabric.listener = self._on_event
        self._undo: list[tuple[int, str, list[str]]] = []
        self._struck: dict[int, list[str]] = {}
        """Step to the servers that its target words stood for."""

    # --- events ----------------------------------------------------------------------------------------------------

    def _on_event(self, stamped: Stamped) -> None:
        self._lamps.on_event(stamped)
        self._outages.on_event(stamped)
        if not self._over:
            for rows in self._rows.values():
                rows.on_event(stamped)
        self._situation.on_event(stamped)
        event = stamped.event
        if type(event) is FaultInjected:
            self._tell(stamped, f"{event.verb} {' '.join(event.targets)}")
        elif type(event) is StepTaken:
            self._tell(stamped, f"{event.procedure} {event.step}: {event.detail}")
        elif type(event) is Serving:
            self._tell(stamped, f"serves from sn {event.sn} in epoch {event.epoch}")

    def _tell(self, stamped: Stamped, what: str) -> None:
        self._timeline.append((stamped.at_ns, stamped.server, what))

    # --- running ---------------------------------------------------------------------------------------------------

    def _ns(self, text: str) -> int:
        return round(nanoseconds(text) * self._scale)

    async def run(self) -> Outcome:
        """Raises LabError for what the scenario cannot do here."""
        try:
            await self.fabric.start()
            if await self._wait("the cluster is settled", START_NS, lambda: self._situation.settled):
                await self._follow()
        finally:
            self._over = True
            await self.fabric.stop()
        self._lamps.finish()
        self._judge(self._scenario.expect, final=True)
        return self._outcome()

    async def _until(self, at_ns: int, true: Callable[[], bool]) -> bool:
        """Lets the cluster go on until something is so, or until a time; on the way takes back what is over."""
        while self._undo and self._undo[0][0] <= at_ns:
            due_ns, verb, names = self._undo[0]
            if await self.fabric.run_until(due_ns, true):
                return True
            self._undo.pop(0)
            await self.fabric.fault(verb, names, {})
        return await self.fabric.run_until(at_ns, true)

    async def _wait(self, what: str, within_ns: int, true: Callable[[], bool]) -> bool:
        if await self._until(self.fabric.now_ns + within_ns, true):
            return True
        row = " ".join(rows.all[-1].letters for rows in self._rows.values() if rows.all) or "nothing"
        self._verdicts.append(Verdict(f"{what} within {within_ns / 1e9:g} s", False, f"the view is {row}"))
        return False

    async def _follow(self) -> None:
        if self._scenario.workload is not None:
            await self.fabric.begin_workload(workload_config(self._scenario.workload, self._scale))
        self._began_ns = before_ns = self.fabric.now_ns
        for number, step in enumerate(self._scenario.steps, 1):
            if not await self._begin(step, before_ns, number):
                return
            before_ns = self.fabric.now_ns
            await self._do(step, number)
            self._situation.steps.clear()
        await self._end(self._scenario.end)

    async def _begin(self, step: StepPart, before_ns: int, number: int) -> bool:
        """Waits for the step's time."""
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
        if step.fault is not None:
            words = [self._named(word) for word in targets(step)]
            names = self._struck[number] = await self.fabric.fault(step.fault, words, dict(step.options))
            if step.span is not None and step.fault in UNDO:
                self._undo.append((self.fabric.now_ns + self._ns(step.span), UNDO[step.fault], names))
                self._undo.sort()
        elif step.workload is not None:
            rate = None if step.workload.rate is None else per_second(step.workload.rate)
            await self.fabric.throttle(rate, step.workload.paused)
        elif step.expect is not None:
            expect = step.expect
            if step.within is not None:
                at_ns = self.fabric.now_ns + self._ns(step.within)
                await self._until(at_ns, lambda: not self._broken_now(expect))
            self._judge(expect, final=False, where=f"step {number}: ")

    def _named(self, word: str) -> str:
        """`target of step 3` is whom step 3 struck; `elected of g1` is who took the last step of an upgrade."""
        if word == "elected of g1":
            return self._situation.upgrading or word
        found = STRUCK.match(word)
        names = self._struck.get(int(found[1]), []) if found else []
        return names[0] if names else word

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

    def _broken_now(self, expect: ExpectPart) -> bool:
        return any(not verdict.held for verdict in self._verdicts_of(expect, final=False))

    def _judge(self, expect: ExpectPart, final: bool, where: str = "") -> None:
        for verdict in self._verdicts_of(expect, final):
            self._verdicts.append(msgspec.structs.replace(verdict, expected=where + verdict.expected))

    def _verdicts_of(self, expect: ExpectPart, final: bool) -> list[Verdict]:
        found: list[Verdict] = []
        if expect.letters is not None:
            found.append(self._letters_now(expect))
        if expect.serving is not None:
            now = self._situation.serves(expect.group)
            found.append(Verdict(f"serving: {expect.serving}", now == expect.serving, str(now)))
        if expect.settled is not None:
            now = self._situation.settled
            found.append(Verdict(f"settled: {expect.settled}", now == expect.settled, str(now)))
        if expect.failed_calls is not None:
            seen = f"{self._outages.failed} of {self._outages.calls}"
            few = self._outages.failed <= expect.failed_calls
            found.append(Verdict(f"failed calls ≤ {expect.failed_calls}", few, seen))
        if expect.longest_outage is not None:
            most_ns = self._ns(expect.longest_outage)
            longest = self._outages.longest_ns
            found.append(
                Verdict(f"longest outage ≤ {most_ns / 1e9:g} s", longest <= most_ns, f"{longest / 1e9:.3f} s")
            )
        found += self._invariants(expect)
        if expect.rows is not None:
            found.append(self._rows_seen(expect))
        return found

    def _rows_of(self, expect: ExpectPart) -> letters.Rows:
        """Raises LabError for a group that is not there."""
        rows = self._rows.get(expect.group)
        if rows is None:
            raise LabError(f"no group is called {expect.group!r}; there are {', '.join(self._rows)}")
        return rows

    def _letters_now(self, expect: ExpectPart) -> Verdict:
        assert expect.letters is not None
        rows, wanted = self._rows_of(expect).all, expect.letters.replace(" ", "")
        now = rows[-1].letters if rows else ""
        same = sorted(now) == sorted(wanted) if expect.any_order_of == "standbys" else now == wanted
        return Verdict(f"letters {wanted}", same, now)

    def _invariants(self, expect: ExpectPart) -> list[Verdict]:
        red = {
            lamp["invariant"]: lamp["explanation"] for lamp in self._lamps.lamps() if lamp["state"] == "red"
        }
        found: list[Verdict] = []
        if expect.invariants is not None:
            every = [lamp["invariant"] for lamp in self._lamps.lamps()]
            names = every if expect.invariants == "all" else expect.invariants
            found += [Verdict(f"invariant: {name}", name not in red, red.get(name, "held")) for name in names]
        if expect.broken is not None:
            which = [name for name in expect.broken if name in red]
            seen = "; ".join(f"{name}: {red[name]}" for name in which) or "all held"
            found.append(Verdict(f"broken: {' or '.join(expect.broken)}", bool(which), seen))
        return found

    def _rows_seen(self, expect: ExpectPart) -> Verdict:
        assert expect.rows is not None
        any_order = expect.rows.any_order_of == "standbys"
        rows = self._rows_of(expect)
        seen = letters.match(rows.all, rows.servers, expect.rows.letters, any_order)
        expected = f"rows {' '.join(row.replace(' ', '') for row in expect.rows.letters)}"
        if isinstance(seen, str):
            return Verdict(expected, False, seen)
        between = ", ".join(seen.between) or "none"
        return Verdict(expected, True, f"columns {' '.join(seen.columns)}; in between: {between}")

    def _outcome(self) -> Outcome:
        scenario = self._scenario
        timeline = [(at_ns - self._began_ns, server, what) for at_ns, server, what in sorted(self._timeline)]
        return Outcome(
            scenario.name, scenario.teaches, scenario.paper, self._on, self._seed, self._scale,
            all(verdict.held for verdict in self._verdicts), self._verdicts,
            [GroupRows(name, rows.servers, rows.all) for name, rows in self._rows.items()],
            self._began_ns, self.fabric.now_ns, self._outages.calls, self._outages.failed,
            self._outages.longest_ns / 1e6, self._lamps.lamps(), timeline,
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
    )
    holes = Holes(**dict.fromkeys(part.holes, True))
    shape = Shape(
        part.groups, part.standbys, part.protocol, part.placement, part.granularity, part.cross_group,
        part.data_nodes,
    )  # fmt: skip
    return msgspec.structs.replace(
        new_config(shape, "clover"),
        timing=timing,
        holes=holes,
        min_in_step=part.min_in_step,
        image_gap=part.image_gap,
        image_every=part.image_every,
        image_store=part.image_store,
    )


def workload_config(part: WorkloadPart, scale: float) -> WorkloadConfig:
    return WorkloadConfig(
        clients=part.clients,
        rate_per_s=per_second(part.rate),
        mix=dict(part.mix),
        directories=part.directories,
    )


async def run(scenario: Scenario, on: str, seed: int, scale: float = 1.0) -> Outcome:
    """Raises LabError."""
    try:
        return await Run(scenario, on, seed, scale).run()
    except KeyError as error:
        raise LabError(f"{scenario.name}: {error} is not there") from None
