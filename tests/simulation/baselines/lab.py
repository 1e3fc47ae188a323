"""A simulated cluster of a baseline with its invariants, for directed schedules."""

from __future__ import annotations

from typing import Any

from nodes.config import JournalConfig
from nodes.families import family_named
from nodes.trace.journal_events import WriterFenced
from tests.simulation.mams.lab import Lab

SHARED = ("qjm", "bookkeeper", "avatar", "hadoop-ha")
SAFE = ("2pc", "qjm", "bookkeeper", "hadoop-ha")


def lab_of(protocol: str, seed: int, *holes: str, standbys: int = 1, **settings: Any) -> Lab:
    journal = JournalConfig(nodes=family_named(protocol).journal_names())
    return Lab(seed, *holes, standbys=standbys, **{"protocol": protocol, "journal": journal, **settings})


def ledgers_on(bookies: int, ensemble: int, write_quorum: int, ack_quorum: int) -> JournalConfig:
    names = family_named("bookkeeper").journal_names(bookies)
    return JournalConfig(names, ensemble, write_quorum, ack_quorum)


def fenced(lab: Lab) -> list[str]:
    """Nodes that have fenced earlier writers."""
    return [stamped.server for stamped in lab.cluster.events if type(stamped.event) is WriterFenced]
