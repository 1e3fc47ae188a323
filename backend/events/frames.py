"""The frames of the live stream, which `backend.page_types` writes as TypeScript.

A row is encoded as the dictionary that it is; its annotation names the model of the API that describes it.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from backend.clusters import models as clusters
from backend.events.failovers import Failover
from backend.events.messages import MessageLine
from backend.events.models import Stamp
from backend.fabrics.clock import ClockState
from backend.fabrics.counters import Counted
from backend.faults.models import VerbOut
from backend.vocabulary import Lane

Row = dict[str, Any]


class HelloFrame(msgspec.Struct, tag="hello"):
    """The present: the first frame of a page, and again after frames were left out."""

    run: int
    seq: int
    picture: Annotated[Row, clusters.PictureOut]
    verbs: list[Annotated[Row, VerbOut]]
    lanes: list[Lane]
    """Kinds of node that the cluster has."""
    invariants: list[Annotated[Row, clusters.InvariantStatus]]
    now_ns: int
    clock: ClockState | None
    """The clock of a simulated cluster; null for real servers, whose time is `now_ns`."""
    left_out: int


class EventsFrame(msgspec.Struct, tag="events"):
    events: list[Annotated[Row, Stamp]]
    next: int
    left_out: int
    picture: Annotated[Row, clusters.PictureChanges]
    """What the events did to the picture."""


class RateFrame(msgspec.Struct, tag="rate"):
    """Calls of the last `span_ms`; latencies are of the last second."""

    at_ns: int
    ok: int
    failed: int
    span_ms: int
    p50_ms: float | None
    p99_ms: float | None


class MessagesFrame(msgspec.Struct, tag="messages"):
    lines: list[MessageLine]
    dropped: int


class ProcessesFrame(msgspec.Struct, tag="processes"):
    """Who runs: sent on every change."""

    servers: list[Annotated[Row, clusters.NodeProcess]]
    """Metadata servers and nodes."""
    clients: list[Annotated[Row, clusters.Client]]
    coordination: Annotated[Row, clusters.CoordinationOut]
    links: list[Annotated[Row, clusters.LinkOut]]


class ClockFrame(ClockState, frozen=True, tag="clock"):
    """The clock of a simulated cluster: sent on every change, and five times a second."""


class FailoverFrame(Failover, frozen=True, tag="failover"):
    """A takeover; a later frame for the same epoch replaces the earlier one."""


class CountersFrame(Counted, tag="counters"):
    """Sent once per second."""


class InvariantsFrame(msgspec.Struct, tag="invariants"):
    """Sent on every change."""

    invariants: list[Annotated[Row, clusters.InvariantStatus]]


StreamFrame = (
    HelloFrame | EventsFrame | RateFrame | ClockFrame | MessagesFrame | ProcessesFrame | FailoverFrame | CountersFrame
    | InvariantsFrame
)  # fmt: skip
