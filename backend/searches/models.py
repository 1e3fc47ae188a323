"""Searches in the API's requests and responses."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from backend.clusters.models import Strict
from backend.searches import schedule, scores, search, wish
from backend.served_models import served_as

CurvePointOut = served_as(search.CurvePoint, "CurvePointOut")
ScheduleOut = served_as(schedule.Schedule, "ScheduleOut")
BugScoreOut = served_as(scores.BugScore)


class SearchRequest(Strict):
    family: str | None = Field(
        default=None, max_length=40, description="Left out: every family that promises to lose nothing."
    )
    bug: str | None = Field(
        default=None, max_length=60, description="A hole or mutation that is switched on."
    )
    minutes: float | None = Field(default=None, gt=0, le=wish.MINUTES_MAX, allow_inf_nan=False)
    seeds: int | None = Field(
        default=None, ge=1, le=wish.SEEDS_MAX, description="Number of seeds, in place of minutes."
    )
    first_seed: int = Field(default=1, ge=0, le=2**31)
    jobs: int | None = Field(default=None, ge=1, description="Processes; left out: two at most.")


class SearchedFamily(BaseModel):
    name: str
    says: str


class SearchedBug(BaseModel):
    name: str
    kind: Literal["hole", "mutation"]
    says: str
    family: str = Field(description="The family in which it is searched by `bench explore bugs`.")
    families: list[str] = Field(description="Families in which it can be switched on.")


class SearchChoices(BaseModel):
    families: list[SearchedFamily]
    bugs: list[SearchedBug]
    jobs: int = Field(description="Processes of a search that asks for no number.")
    jobs_max: int


class FailureRow(BaseModel):
    """A kind of failure, with the size of the smallest plan that shows it."""

    number: int
    family: str
    invariant: str
    place: str
    count: int
    explanation: str
    faults: int
    calls: int
    state: Literal["found", "shrinking", "shrunk", "partly shrunk"]
    trials: int = Field(description="Trials that shrinking took so far.")
    note: str = Field(description="Why it could not be shrunk.")


class SearchOut(BaseModel):
    state: Literal["none", "running", "ended", "stopped", "failed"]
    note: str = Field(default="", description="Why it ended before its end.")
    family: str | None = None
    bug: str | None = None
    minutes: float | None = None
    seeds_asked: int | None = None
    first_seed: int = 1
    jobs: int = 0
    took_s: float = 0
    left_s: float | None = Field(default=None, description="Estimate.")
    seeds: int = 0
    seeds_per_s: float = 0
    coverage: int = Field(default=0, description="Features that were reached.")
    beyond: int = Field(default=0, description="Trials with more damage than the family survives.")
    calls: int = 0
    answered: int = 0
    checked: int = Field(default=0, description="Facts that the invariants found to be right.")
    failed: int = 0
    curve: list[CurvePointOut] = []  # type: ignore[valid-type]
    failures: list[FailureRow] = []


class FailureOut(BaseModel):
    """The smallest schedule of a kind of failure."""

    number: int
    seed: int
    explanation: str
    schedule: ScheduleOut  # type: ignore[valid-type]
    story: list[str] = Field(description="What led to the violation, a line for each step.")
    file: str = Field(description="Name of the scenario file.")
    yaml: str
    command: str = Field(description="The line that repeats it.")


def view_of(found: search.Search | None) -> dict[str, Any]:
    if found is None:
        return {"state": "none"}
    asked, figures = found.wish, found.figures
    words = ("took_s", "seeds", "coverage", "beyond", "calls", "answered", "checked", "failed")
    return {
        **{word: getattr(figures, word) for word in words},
        "state": found.state,
        "note": found.note,
        "family": asked.family,
        "bug": asked.bug,
        "minutes": asked.minutes,
        "seeds_asked": asked.seeds,
        "first_seed": asked.first_seed,
        "jobs": found.jobs,
        "left_s": found.left_s,
        "seeds_per_s": found.seeds_per_s,
        "curve": [
            {"at_s": each.at_s, "seeds": each.seeds, "coverage": each.coverage} for each in found.curve.points
        ],
        "failures": [row_of(each) for each in sorted(found.failures.values(), key=lambda each: -each.count)],
    }


def row_of(known: search.KnownFailure) -> dict[str, Any]:
    family, invariant, place = known.kind
    words = ("number", "count", "faults", "calls", "state", "trials", "note")
    return {
        **{word: getattr(known, word) for word in words},
        "family": family,
        "invariant": invariant,
        "place": place,
        "explanation": known.outcome.failures[0].explanation,
    }
