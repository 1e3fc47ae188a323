"""One trial: a cluster under load and faults for its whole span. Then a sufficient core is healed and must serve; then everything is healed and
audited."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from nodes.config import MILLISECOND, SECOND, ClusterConfig
from nodes.explore import audit
from nodes.explore.acknowledgements import Acknowledged
from nodes.explore.applied_groups import AppliedGroups
from nodes.explore.atlas import Atlas
from nodes.explore.block_history import BlockHistory
from nodes.explore.branches import EVERY, Arcs
from nodes.explore.checkpoint_audit import oldest_complete, restore_oldest
from nodes.explore.core import disturbed_still, heal_all, heal_core, members_to_lose
from nodes.explore.coverage import Coverage
from nodes.explore.deeds import as_of_now
from nodes.explore.file_holds import awaits_hold, check_hold_ends, leave_hold
from nodes.explore.forced_groups import ServedGroups, force_groups
from nodes.explore.plan import Caller, Failure, Plan, PlanOutcome
from nodes.explore.planned_faults import PlannedFaults
from nodes.explore.prober import Prober
from nodes.explore.prunings import check_images, check_prunes, shrinks_soon, takes_images
from nodes.explore.roll_call import RollCall, check_counts
from nodes.explore.sim_stage import SimStage
from nodes.explore.spare_images import SpareImages
from nodes.explore.stage import Scripted, Stage
from nodes.explore.stamps import Stamps
from nodes.families import family_named
from nodes.invariants import registry
from nodes.invariants.one_active import OneActive
from nodes.invariants.same_state import SameState
from nodes.sim.ensemble import COORDINATION
from nodes.sim.loop import Stuck
from nodes.trace import story
from nodes.trace.events import Configured, JournalOpened, Serving, Stamped

START_NS = 120 * SECOND
SEGMENT_NS = 30 * SECOND
"""The longest segment of a quorum journal."""
RESTORED_SHARE = 0.75
"""Share of the trials with a complete checkpoint and whole disks that go back to it after the first audit."""
WHEN_FORCED = (OneActive.name, SameState.name)
"""Invariants that must hold even when a person has accepted a loss, or when lost data cannot be noticed."""


class Trial:
    """Runs a plan once. `on_event` receives every event, also of clusters that fail."""

    def __init__(
        self, plan: Plan, on_event: Callable[[Stamped], None] | None = None, stage: Stage | None = None
    ):
        """Uses the simulator unless another stage with a cluster of this plan is given."""
        self.plan = plan
        self.cluster: Stage = stage or SimStage(plan.cluster, plan.seed, plan.conditions)
        self._began_ns = self.cluster.now_ns
        self.invariants = registry.start(plan.cluster)
        self.acknowledged = Acknowledged(self.invariants)
        self.stamps = Stamps()
        self.spare_images = SpareImages()
        self.block_history = BlockHistory(plan.cluster.data.nodes)
        self.atlas = Atlas(plan.cluster)
        self.coverage = Coverage(self.cluster, plan.cluster)
        self.events: list[Stamped] = []
        self.clients: list[Scripted] = []
        self.failures: list[Failure] = []
        self.faults = PlannedFaults(self.cluster, self.atlas, self.coverage)
        self._roll_call = RollCall(family_named(plan.cluster.protocol))
        self.served = ServedGroups(self.cluster)
        self.applied = AppliedGroups(self.cluster)
        self._rng = random.Random(f"{plan.seed}/trial")
        listeners = (
            self.invariants,
            self.acknowledged,
            self.stamps,
            self.spare_images,
            self.block_history,
            self._roll_call,
            self.served,
            self.applied,
            self.coverage,
        )
        for listener in (*(each.on_event for each in listeners), self._on_event, on_event):
            if listener is not None:
                self.cluster.on_event(listener)

    @property
    def config(self) -> ClusterConfig:
        return self.plan.cluster

    def _on_event(self, stamped: Stamped) -> None:
        self.events.append(stamped)
        event = stamped.event
        if type(event) is Configured:
            self.atlas.configure(event.group, event.members, stamped.at_ns)
        elif type(event) is JournalOpened:
            self.atlas.open_journal(stamped.server)
        elif type(event) is Serving:
            self.atlas.begin_tenure(event.group, event.epoch)

    # --- the whole trial -------------------------------------------------------------------------------------------

    def run(self) -> PlanOutcome:
        self.carry_out()
        return self.judged()

    def carry_out(self) -> None:
        """Runs load, faults, healing and audit; each error becomes a failure."""
        arcs = Arcs()
        try:
            with arcs.measuring(self.plan.seed % EVERY == 0):
                self._phases()
        except Stuck as stuck:
            self.fail("service", "loop", str(stuck))
        except Exception as bug:
            self.fail("no exception", place_of(bug), f"{type(bug).__name__}: {bug}")
        self.coverage.seen.update(arcs.features())

    def judged(self) -> PlanOutcome:
        """The outcome, after the last event."""
        self.invariants.finish()
        self.failures += self._verdicts()
        if self.stamps.ahead:
            self.fail("true time", "stamp", self.stamps.ahead)
        if self.spare_images.lacking:
            self.fail("spare image", "pruned journal", self.spare_images.lacking)
        return self._outcome()

    def _phases(self) -> None:
        cluster = self.cluster
        if self.plan.unsettled_ms is None:
            cluster.run_until(cluster.settled, START_NS)
        else:
            cluster.run_for(self.plan.unsettled_ms * MILLISECOND)
        self._load_and_faults()
        if self.broken:
            return
        if not self.atlas.beyond:
            self._core_serves()
        if self.failures:  # What cannot serve does not come to rest either, and waiting for it is long.
            return
        self.faults.end_all()
        heal_all(cluster)
        if self.atlas.beyond:
            cluster.run_for(self.patience_ns)
            force_groups(self, self.served)
            return
        if self._settles("after everything was healed"):
            awaits = awaits_hold(self.plan)
            if awaits:
                leave_hold(self)
            before = audit.read_back(self)
            # A recovery would take the held file away.
            if not (self.failures or awaits) and self._restores_checkpoint():
                before = audit.read_back(self)
            if not self.failures and takes_images(self.plan.cluster):
                check_images(self, self.events)
            if not self.failures:
                self._members_are_spared()
            if not self.failures:
                self._restart_from_disks(before)
            if not self.failures and shrinks_soon(self.plan.cluster):
                check_prunes(self, self.events)
            if awaits and not self.failures:
                check_hold_ends(self)

    def _restores_checkpoint(self) -> bool:
        """In most of the trials that can: goes back to a checkpoint once everything was audited. Returns whether it did."""
        chosen = random.Random(f"{self.plan.seed}/last recovery").random() < RESTORED_SHARE
        if not (chosen and self.atlas.whole and oldest_complete(self.events)):
            return False
        return restore_oldest(self, self.events) and self._settles("after the last recovery")

    def _restart_from_disks(self, before: audit.AuditReads) -> None:
        """Powers all servers and coordination off at once, so that only durable state returns, and compares it with the state before."""
        cluster = self.cluster
        present = [name for name, server in cluster.servers.items() if not (server.gone or server.client)]
        names = [name for name in present if cluster.servers[name].process == "running"]
        torn = random.Random(f"{self.plan.seed}/restart").choice(self.atlas.restart_tears())
        cluster.faults.do("power_loss", names, {"torn": torn})
        cluster.faults.do("crash", [COORDINATION])
        cluster.run_for(MILLISECOND)
        cluster.mend_coordination()
        cluster.faults.do("restart", present)
        # Places in the view outlive their servers until the sessions end.
        cluster.run_for(2 * self.plan.cluster.timing.session_timeout_ms * MILLISECOND)
        if self._settles("after all were restarted from their disks"):
            audit.compare(self, before, audit.read_back(self))

    # --- load and faults -------------------------------------------------------------------------------------------

    def _load_and_faults(self) -> None:
        plan, cluster = self.plan, self.cluster
        cluster.prepare(plan.callers)
        start_ns = cluster.now_ns
        todo: list[tuple[int, Callable[[], None]]] = []
        for fault in [as_of_now(cluster, fault) for fault in plan.faults]:
            todo.append((fault.at_ms, partial(self.faults.take_up, fault)))
        for caller in plan.callers:
            todo.append((caller.start_ms, partial(self._start, caller)))
            if caller.dies_ms:
                todo.append((caller.dies_ms, partial(self._kill, caller.name)))
        for at_ms, step in sorted(todo, key=lambda each: each[0]):
            cluster.run_until(max(cluster.now_ns, start_ns + at_ms * MILLISECOND))
            step()
        cluster.run_until(max(cluster.now_ns, start_ns + plan.span_ms * MILLISECOND))
        cluster.disarm_all()

    def _start(self, caller: Caller) -> None:
        self.clients.append(self.cluster.start_caller(caller))

    def _kill(self, name: str) -> None:
        for client in self.clients:
            if client.name == name:
                client.die()

    # --- liveness --------------------------------------------------------------------------------------------------

    @property
    def patience_ns(self) -> int:
        """Time in which a healed cluster must serve: some sessions, queued work, and a call that gives up at its deadline."""
        timing = self.plan.cluster.timing
        return (12 * timing.session_timeout_ms + timing.call_deadline_ms) * MILLISECOND + 30 * SECOND

    def _core_serves(self) -> None:
        self.faults.keep_links()
        left_out = heal_core(self.cluster, self.atlas, self.plan.cluster, self._rng)
        self._can_be_written("core", left_out, "prober")

    def _members_are_spared(self) -> None:
        """A cluster at rest goes on without one member of each group, and one journal node: every server in step must count."""
        rng = random.Random(f"{self.plan.seed}/members")
        # A removal that was asked for may still be under way, too: those that count are chosen afterwards.
        self.cluster.run_for(recording_ns(self.plan.cluster, self.atlas))
        check_counts(self, self._roll_call, self.patience_ns)
        if self.failures:
            return
        lost = members_to_lose(self.cluster, self.atlas, self.plan.cluster, rng)
        if lost:
            self.cluster.faults.do("crash", lost)
            self._can_be_written("members", lost, "prober2")

    def _can_be_written(self, place: str, missing: list[str], client: str) -> None:
        """Whether every group takes writes of this client without these servers."""
        cluster = self.cluster
        prober = Prober(cluster, client)
        task = prober.begin_writes(len(self.plan.cluster.groups))
        if not cluster.reaches(cluster.now_ns + self.patience_ns, lambda: task.done() or self.broken):
            task.cancel()
            where = f"without {', '.join(missing)}" if missing else "with everybody there"
            self.fail("service", place, f"nothing was written within {self.patience_ns / SECOND:g} s {where}")
        prober.client.die()

    def _settles(self, when: str) -> bool:
        """Whether the cluster comes to rest. The patience begins again as long as calls return: a slow network and many calls are no failure."""
        cluster, returned = self.cluster, -1
        while returned < (returned := self._returned):
            if cluster.reaches(cluster.now_ns + self.patience_ns, lambda: self._quiet() or self.broken):
                return not self.broken
        self.fail("service", f"settle {when}", f"{when}: {disturbed_still(cluster, self.clients)}")
        return False

    @property
    def _returned(self) -> int:
        """Number of calls of the plan's clients that have an outcome."""
        return sum(client.begun - len(client.under_way) for client in self.clients)

    def _quiet(self) -> bool:
        """No recovery is requested: it would roll the cluster back during the audit."""
        done = all(client.done for client in self.clients)
        return done and self.served.settled() and not self.cluster.unanswered

    # --- verdicts --------------------------------------------------------------------------------------------------

    def fail(self, invariant: str, place: str, explanation: str) -> None:
        self.failures.append(Failure(invariant, place, explanation))

    @property
    def broken(self) -> bool:
        """Whether a promise is already broken. Such a cluster may never come to rest, and running on shows nothing new."""
        return bool(self._judged())

    def _judged(self) -> list[Failure]:
        return [
            Failure(each.invariant, kinds_of(each.evidence, self.events), each.explanation, each.evidence)
            for each in self.invariants.failures
            if not (self.atlas.forced or self.atlas.rotten) or each.invariant in WHEN_FORCED
        ]

    def _verdicts(self) -> list[Failure]:
        found = self._judged()
        if self.failures or self.atlas.beyond:
            return found
        return found + [
            Failure(each.invariant, "not judged", each.explanation) for each in self.invariants.unjudged
        ]

    def _reported(self, failure: Failure) -> Failure:
        """The failure with its story: the causes of the events that a check names as evidence, else the end of the run."""
        return replace(failure, story=story.failure(self.events, failure.evidence))

    def _outcome(self) -> PlanOutcome:
        return PlanOutcome(
            plan=self.plan,
            failures=[self._reported(failure) for failure in distinct(self.failures)],
            beyond=self.atlas.beyond,
            calls=sum(client.begun for client in self.clients),
            answered=sum(client.answered for client in self.clients),
            checked=sum(row["checked"] for row in self.invariants.invariants()),
            virtual_ns=self.cluster.now_ns - self._began_ns,
            skipped=self.faults.skipped,
            coverage=frozenset(self.coverage.seen),
            log_sha256=self.cluster.log_sha256(),
        )


def kinds_of(evidence: list[tuple[str, int]], events: list[Stamped]) -> str:
    """The kinds of these events. Failures of one invariant are grouped by the kinds of events that contradict each other."""
    kinds = {type(each.event).__name__ for each in events if (each.server, each.number) in evidence}
    return " and ".join(sorted(kinds))


def distinct(failures: list[Failure]) -> list[Failure]:
    """The first failure of each invariant and place."""
    return list({(each.invariant, each.place): each for each in reversed(failures)}.values())[::-1]


def place_of(bug: BaseException) -> str:
    """Module and line where an exception was raised."""
    trace = bug.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "?" if trace is None else f"{trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}"


def run(plan: Plan) -> PlanOutcome:
    return Trial(plan).run()


def recording_ns(config: ClusterConfig, atlas: Atlas) -> int:
    """Time in which a leader records disks that it does not know yet: once per scan, those of journal nodes once per segment."""
    return 2 * SEGMENT_NS if atlas.damaged("journal") else 2 * config.timing.renew_scan_ms * MILLISECOND
