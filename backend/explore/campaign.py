"""A search: draws seeds and neighbours of plans that reached something new, runs them, keeps the failures."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator

import msgspec

from backend.explore.executors import Executor, WorkersLost
from backend.explore.work import TrialJob, encode, outcome_of
from nodes.config import Holes, Variant
from nodes.explore.plan import Failure, Plan, PlanOutcome
from nodes.explore.plan_mutations import neighbour
from nodes.mutations import Mutations

CORPUS_MAX = 512
NEIGHBOURS = 0.1
"""Share of trials that vary a plan which reached something new."""


class Target(msgspec.Struct, frozen=True):
    """Subject of a search: families, taken in turn, and their switches."""

    protocols: tuple[str, ...]
    holes: Holes = Holes()
    mutations: Mutations = Mutations()
    on: str = "simulated"
    """`simulated` or `processes`."""
    scale: float | None = None
    """Factor for every time on processes; None measures this machine."""
    variant: Variant = "safe"


def family_of_turn(turn: int, count: int) -> int:
    """Each of `count` families once in as many turns; of an even number of families each one turn earlier from round to round: else it would have odd
    seeds alone, or even ones."""
    return (turn + turn // count if count % 2 == 0 else turn) % count


class CampaignTally(msgspec.Struct):
    """Results of a search so far."""

    seeds: int = 0
    beyond: int = 0
    """Trials with more damage than the family survives; only safety was judged."""
    calls: int = 0
    answered: int = 0
    checked: int = 0
    skipped: int = 0
    """Faults that were impossible at their time or on their target."""
    virtual_ns: int = 0
    took_s: float = 0.0
    coverage: set[str] = set()
    by_family: Counter[str] = msgspec.field(default_factory=Counter)
    failures: dict[tuple[str, str, str], PlanOutcome] = {}
    """Smallest failing plan by family, invariant and place."""
    counts: Counter[tuple[str, str, str]] = msgspec.field(default_factory=Counter)
    incomplete: str = ""
    """Why the search ended before its end."""
    lost: bool = False
    """True when the search ended because no worker was left."""

    @property
    def failed(self) -> int:
        return sum(self.counts.values())


class Campaign:
    """One search. `on_progress` is called after every result."""

    def __init__(
        self,
        target: Target,
        executor: Executor,
        seeds: range | None,
        until_s: float | None,
        on_progress: Callable[[CampaignTally], None] = lambda tally: None,
        stop_at_first: bool = False,
        base: Plan | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        """`clock`: seconds of the kind in which `until_s` counts."""
        self._target = target
        self._executor = executor
        self._steered = seeds is None
        self._numbers = iter(seeds if seeds is not None else range(1, 1 << 40))
        self._until_s = until_s
        self._on_progress = on_progress
        self._stop_at_first = stop_at_first
        self._base = base
        self._rng = random.Random("campaign")
        self._corpus: dict[str, list[Plan]] = {}
        self._clock = clock
        self._began_s = clock()
        self.tally = CampaignTally()

    def run(self) -> CampaignTally:
        """Runs until the seeds or the time are used up, or Ctrl-C; the findings are kept in any case."""
        under_way = 0
        try:
            for job in self._jobs():
                self._executor.submit(encode(job))
                under_way += 1
                while under_way >= self._executor.width:
                    under_way -= self._take()
                if self._over():
                    break
            while under_way and not self._over():
                under_way -= self._take()
        except KeyboardInterrupt:
            self.tally.incomplete = "stopped by Ctrl-C"
        except WorkersLost as lost:
            self.tally.incomplete, self.tally.lost = lost.message, True
        self.tally.took_s = self._clock() - self._began_s
        return self.tally

    def _over(self) -> bool:
        late = self._until_s is not None and self._clock() - self._began_s >= self._until_s
        return late or (self._stop_at_first and bool(self.tally.failures))

    def _jobs(self) -> Iterator[TrialJob]:
        """Jobs of exactly the given seeds; without them, some jobs are neighbours of a plan that reached something new."""
        protocols = self._target.protocols
        for turn, seed in enumerate(self._numbers):
            protocol = protocols[family_of_turn(turn, len(protocols))]
            corpus = self._corpus.get(protocol, [])
            plan = None
            if self._base is not None:
                plan = neighbour(self._base, self._base, seed)
            elif self._steered and corpus and self._rng.random() < NEIGHBOURS:
                plan = neighbour(self._rng.choice(corpus), self._rng.choice(corpus), seed)
            target = self._target
            yield TrialJob(
                seed,
                protocol,
                target.holes,
                target.mutations,
                plan,
                on=target.on,
                scale=target.scale,
                variant=target.variant,
            )

    def _take(self) -> int:
        count = 0
        for result in self._executor.results(0.2):
            count += 1
            self._note(outcome_of(result))
        self.tally.took_s = self._clock() - self._began_s
        self._on_progress(self.tally)
        return count

    def _note(self, outcome: PlanOutcome) -> None:
        tally, plan = self.tally, outcome.plan
        tally.seeds += 1
        tally.by_family[plan.cluster.protocol] += 1
        tally.beyond += bool(outcome.beyond)
        tally.calls += outcome.calls
        tally.answered += outcome.answered
        tally.checked += outcome.checked
        tally.skipped += outcome.skipped
        tally.virtual_ns += outcome.virtual_ns
        new = outcome.coverage - tally.coverage
        if new:
            tally.coverage |= new
            corpus = self._corpus.setdefault(plan.cluster.protocol, [])
            corpus.append(plan)
            del corpus[:-CORPUS_MAX]
        for failure in outcome.failures[:1]:
            key = (plan.cluster.protocol, failure.invariant, failure.place)
            tally.counts[key] += 1
            known = tally.failures.get(key)
            if known is None or plan.calls + len(plan.faults) < known.plan.calls + len(known.plan.faults):
                tally.failures[key] = outcome


def shrunk(
    executor: Executor, outcomes: list[PlanOutcome], trials: int, on_done: Callable[[PlanOutcome], None]
) -> None:
    """Shrinks each failing plan on the workers. Raises WorkersLost, KeyboardInterrupt."""
    for outcome in outcomes:
        failure: Failure = outcome.failures[0]
        job = TrialJob(outcome.plan.seed, plan=outcome.plan, shrink_as=failure, shrink_trials=trials)
        executor.submit(encode(job))
    left = {outcome.plan.seed for outcome in outcomes}
    while left:
        for outcome in map(outcome_of, executor.results(1.0)):
            if outcome.plan.seed in left:  # jobs under way at the end of the search stay unshrunk
                left.remove(outcome.plan.seed)
                on_done(outcome)
