"""Runs, events, timelines and journals as the API tells them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Run(BaseModel):
    run: int
    protocol: str
    started_at: str
    ended_at: str | None
    started_ns: int
    first_seq: int
    last_seq: int
    live: bool


class EventOut(BaseModel):
    """One event; its own fields stand beside these, one that shares a name with them as `of_` and the name."""

    model_config = ConfigDict(extra="allow")

    seq: int
    server: str
    boot: int
    number: int
    at_ns: int
    cause: int = Field(description="Number of the event, or of the call, that led here; 0 for none.")
    cause_server: str = Field(
        default="", description="Whose event, or the call's session; empty: the same server's."
    )
    kind: str


class EventPage(BaseModel):
    events: list[EventOut]
    next: int = Field(description="To be given as `after` for what follows.")
    left_out: int = Field(description="Events between first and last that are not kept any more.")


class Span(BaseModel):
    from_ns: int
    to_ns: int
    letter: Literal["A", "S", "J", "P", "M", "-"]


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
    """A checkpoint: when the first group wrote its barrier, and which groups did."""

    name: str
    at_ns: int
    groups: list[str]


class ViewMark(BaseModel):
    """What a group agreed on as its members; the first of each group may lie before the span."""

    group: str
    number: int
    members: list[str]
    at_ns: int


class FailoverSplit(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    group: str
    fault_ns: int
    detection_ms: float
    election_ms: float
    switch_ms: float
    reconnect_ms: float | None
    total_ms: float
    old: str = Field(alias="from")
    new: str = Field(alias="to")
    epoch: int


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
    failovers: list[FailoverSplit]


class JournalRow(BaseModel):
    name: str
    cells: list[tuple[int, int, int, Literal["p", "c", "a", "e", "x"]]] = Field(
        description="from_sn, to_sn, epoch, state: p durable, c committed, a applied, e other, x missing."
    )


class Journals(BaseModel):
    group: str
    commit_sn: int
    first_sn: int
    last_sn: int
    servers: list[JournalRow]
    barriers: list[tuple[int, str]] = Field(description="Serial numbers of barriers and their checkpoints.")


class JournalRecord(BaseModel):
    server: str
    sn: int
    group: Any = Field(
        description="The journal group with its records, as the server reads it from its disk."
    )
