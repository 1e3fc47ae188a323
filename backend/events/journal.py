"""The journals of a replica group side by side: the state of each journal group on each server, with equal neighbours in one cell."""

from __future__ import annotations

from typing import Any

from backend.picture import Picture
from backend.store import queries
from backend.store.readers import ReadConnections
from nodes.trace.checkpoints import BarrierWritten, TakenBack
from nodes.trace.events import Committed, Cut, Durable, JournalOpened, Stamped

Cell = tuple[int, int, int, str]
"""from_sn, to_sn, epoch, state: p durable, c committed, a applied, e of another epoch than the committed one, x missing."""


class Columns:
    """State of the groups from_sn … to_sn, reduced from events."""

    def __init__(self, from_sn: int, to_sn: int):
        self.from_sn = from_sn
        self.to_sn = to_sn
        self.held: dict[str, dict[int, tuple[int, int]]] = {}
        """Epoch and CRC by server and sn."""
        self.committed: dict[int, tuple[int, int]] = {}

    def see(self, stamped: Stamped) -> None:
        event = stamped.event
        held = self.held.setdefault(stamped.server, {})
        if isinstance(event, Durable):
            held[event.sn] = (event.epoch, event.crc)
        elif isinstance(event, Committed):
            self.committed[event.sn] = (event.epoch, event.crc)
        elif isinstance(event, Cut):
            self.drop(held, event.sn + 1, self.to_sn)
        elif isinstance(event, JournalOpened):
            self.opened(held, event)

    def drop(self, held: dict[int, tuple[int, int]], first: int, last: int) -> None:
        for sn in range(max(first, self.from_sn), min(last, self.to_sn) + 1):
            held.pop(sn, None)

    def opened(self, held: dict[int, tuple[int, int]], event: JournalOpened) -> None:
        """The journal that a restarted server reports. Groups from before the kept events get its last epoch."""
        self.drop(held, event.last_sn + 1, self.to_sn)
        first = 1 if event.image_sn else max(1, event.first_sn)
        for sn in range(max(first, self.from_sn), min(event.last_sn, self.to_sn) + 1):
            held.setdefault(sn, self.committed.get(sn, (event.epoch, -1)))

    def cells(self, server: str, applied_sn: int, commit_sn: int) -> list[Cell]:
        held = self.held.get(server, {})
        known = set(self.committed).union(*self.held.values()) if self.held else set()
        made: list[Cell] = []
        for sn in range(self.from_sn, self.to_sn + 1):
            if sn not in known and sn > commit_sn:
                continue
            epoch, state = self.state(held, sn, applied_sn, commit_sn)
            if made and made[-1][1:] == (sn - 1, epoch, state):
                made[-1] = (made[-1][0], sn, epoch, state)
            else:
                made.append((sn, sn, epoch, state))
        return made

    def state(
        self, held: dict[int, tuple[int, int]], sn: int, applied_sn: int, commit_sn: int
    ) -> tuple[int, str]:
        if sn not in held:
            return 0, "a" if sn <= applied_sn else "x"
        epoch, crc = held[sn]
        agreed = self.committed.get(sn)
        if agreed is not None and crc != -1 and agreed != (epoch, crc) and agreed[1] != crc:
            return epoch, "e"
        if sn <= applied_sn:
            return epoch, "a"
        return epoch, "c" if agreed is not None or sn <= commit_sn else "p"


def standing(found: list[Stamped], group: str) -> dict[int, str]:
    """Checkpoints by sn whose barriers are in the journal of a group; a recovery removes those after its own."""
    barriers: dict[int, str] = {}
    incarnation = 0
    for stamped in found:
        event = stamped.event
        if isinstance(event, BarrierWritten) and event.group == group:
            barriers[event.sn] = event.name
        if not isinstance(event, TakenBack) or event.group != group or event.sn == 0:
            continue
        if event.incarnation > incarnation:
            incarnation = event.incarnation
            barriers = {sn: name for sn, name in barriers.items() if sn <= event.sn}
    return barriers


async def journal(
    reader: ReadConnections, picture: Picture, group: str, from_sn: int, to_sn: int
) -> dict[str, Any]:
    """The journals of one replica group at the time of the picture."""
    servers = [server for server in picture.servers.values() if server.group == group]
    names = [server.name for server in servers]
    commit_sn = picture.groups[group].commit_sn
    last_sn = max((server.sn for server in servers), default=0)
    columns = Columns(from_sn, min(to_sn, last_sn))
    found = await queries.of_groups(reader, from_sn, to_sn, picture.seq, names)
    found += await queries.cuts(reader, picture.seq, names)
    barriers = standing([stamped for _, stamped in await queries.barriers(reader, picture.seq)], group)
    for _, stamped in sorted(found, key=lambda each: each[0]):
        columns.see(stamped)
    return {
        "group": group,
        "commit_sn": commit_sn,
        "first_sn": 1 if last_sn else 0,
        "last_sn": last_sn,
        "barriers": [each for each in sorted(barriers.items()) if from_sn <= each[0] <= to_sn],
        "servers": [
            {"name": server.name, "cells": columns.cells(server.name, server.applied_sn, commit_sn)}
            for server in servers
        ],
    }
