"""Runs and their events, moments, timelines and journals."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from backend.clusters import views
from backend.clusters.models import PictureOut
from backend.dependencies import TheLab
from backend.events import service
from backend.events.models import EventPage, Evidence, Failover, JournalRecord, Journals, Run, Timeline

router = APIRouter(prefix="/api", tags=["events"])

Number = Annotated[int, Query(ge=0, le=1 << 62)]
RunNumber = Annotated[int, Path(ge=1, le=1 << 31)]


def as_json(reported: Any) -> Response:
    """A JSON response without a second validation, which would be slow for large bodies."""
    return Response(msgspec.json.encode(reported), media_type="application/json")


@router.get("/runs", response_model=list[Run])  # type: ignore[valid-type]
async def read_runs(lab: TheLab) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = msgspec.to_builtins(await service.runs(lab))
    return found


@router.get("/runs/{run}/events", response_model=EventPage)
async def read_events(
    run: RunNumber,
    lab: TheLab,
    after: Number = 0,
    before: Number | None = None,
    limit: Annotated[int, Query(ge=1, le=5000)] = 1000,
    kinds: Annotated[str, Query(max_length=1000)] = "",
    servers: Annotated[str, Query(max_length=1000)] = "",
) -> Response:
    return as_json(await service.events(lab, run, after, before, limit, kinds, servers))


@router.get("/runs/{run}/picture", response_model=PictureOut)
async def read_picture(
    run: RunNumber, lab: TheLab, at_ns: Number | None = None, seq: Number | None = None
) -> dict[str, Any]:
    """The state at that moment, or after the event of that number; without both the last one."""
    return views.picture(await service.picture(lab, run, at_ns, seq))


@router.get("/runs/{run}/timeline", response_model=Timeline)
async def read_timeline(
    run: RunNumber,
    lab: TheLab,
    from_ns: Number | None = None,
    to_ns: Number | None = None,
    buckets: Annotated[int, Query(ge=1, le=2000)] = 600,
) -> Response:
    return as_json(await service.read_timeline(lab, run, from_ns, to_ns, buckets))


@router.get("/runs/{run}/failovers", response_model=list[Failover])  # type: ignore[valid-type]
async def read_failovers(run: RunNumber, lab: TheLab) -> list[dict[str, Any]]:
    """The newest thousand takeovers of the run, in order."""
    return await service.read_failovers(lab, run)


@router.get("/takeovers/{group}/{epoch}", response_model=Evidence)
async def read_evidence(
    group: Annotated[str, Path(max_length=100)], epoch: Annotated[int, Path(ge=1, le=1 << 62)], lab: TheLab
) -> dict[str, Any]:
    """What became of the acknowledged writes and of the calls that waited at one of the last takeovers of the live run."""
    return await service.read_evidence(lab, group, epoch)


@router.get("/runs/{run}/journal", response_model=Journals)
async def read_journal(
    run: RunNumber,
    lab: TheLab,
    from_sn: Number,
    to_sn: Number,
    group: Annotated[str, Query(max_length=100)] = "",
    at_ns: Number | None = None,
) -> Response:
    """The journals of one replica group, each of which counts its own serial numbers; without `group` the first group."""
    return as_json(await service.read_journal(lab, run, group, from_sn, to_sn, at_ns))


@router.get("/journal/{server}/{sn}", response_model=JournalRecord)
async def read_record(server: str, sn: Annotated[int, Path(ge=1, le=1 << 62)], lab: TheLab) -> dict[str, Any]:
    return await service.record(lab, server, sn)
