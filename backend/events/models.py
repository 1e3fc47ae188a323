"""Runs, events, timelines and journals in the API's responses."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from backend import evidence
from backend.events import failovers
from backend.served_models import served_as
from backend.store.queries import RunRow

Run = served_as(RunRow, "Run")
Failover = served_as(failovers.Failover)
Evidence = served_as(evidence.Evidence)
Letter = Literal["A", "S", "J", "P", "M", "-"]
CellState = Literal["p", "c", "a", "e", "x"]


class Stamp(BaseModel):
    """What every event has; its own fields stand beside these, one that shares a name with them as `of_` and the name."""

    model_config = ConfigDict(extra="allow")

    seq: int
    server: str
    boot: int
    number: int
    at_ns: int
    cause: int = Field(description="Number of the event, or of the call, that caused this one; 0 for none.")
    cause_server: str = Field(
        default="", description="Server of that event, or session of that call; empty for the same server."
    )
    carrier: str = Field(
        default="", description="Kind of the message that brought the cause here; empty when none did."
    )
    kind: str
    says: str = Field(description="The event in a sentence.")
    story: bool = Field(description="Whether it is worth a line by itself.")


class EventPage(BaseModel):
    events: list[Stamp]
    next: int = Field(description="To be given as `after` for what follows.")
    left_out: int = Field(description="Events between first and last that are not kept any more.")


class Span(BaseModel):
    from_ns: int
    to_ns: int
    letter: Letter


class Band(BaseModel):
    server: str
    group: str
    spans: list[Span]


class FaultSpan(BaseModel):
    fault: int
    verb: str
    targets: list[str]
    at_ns: int
    ended_ns: int | None


class BarrierMark(BaseModel):
    """A checkpoint: the time of the first barrier, and the groups that wrote theirs."""

    name: str
    at_ns: int
    groups: list[str]


class ViewMark(BaseModel):
    """A view of a group; the first one of each group may precede the span."""

    group: str
    number: int
    members: list[str]
    at_ns: int


class Timeline(BaseModel):
    from_ns: int
    to_ns: int
    bucket_ns: int
    ok: list[int]
    failed: list[int]
    p50_ms: list[float | None]
    p99_ms: list[float | None]
    bands: list[Band]
    faults: list[FaultSpan]
    barriers: list[BarrierMark]
    views: list[ViewMark]
    failovers: list[Failover]  # type: ignore[valid-type]


class JournalRow(BaseModel):
    name: str
    cells: list[tuple[int, int, int, CellState]] = Field(
        description="from_sn, to_sn, epoch, state: p durable, c committed, a applied, e other, x missing."
    )


class Journals(BaseModel):
    group: str
    commit_sn: int
    first_sn: int
    last_sn: int
    servers: list[JournalRow]
    barriers: list[tuple[int, str]] = Field(description="Checkpoints by serial number of their barrier.")


class JournalRecord(BaseModel):
    server: str
    sn: int
    group: Any = Field(description="The journal group and its records, read from the server's disk.")
