"""What is measured of each system, the medians over the rounds, and the ratios between systems."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

import msgspec

OURS = "ours"
OPERATIONS = ("mkdir", "create", "stat", "rename", "delete")
"""In the order in which they are measured: each needs the files of the ones before."""
JOURNAL_RATES = (1_000, 10_000, 25_000)
"""Records a second that are offered to a journal, as in Fig. 8a of CFS."""
RECORD_BYTES = 1_000
GAP_CALLERS, GAP_CALLS_PER_S = 4, 200
"""The load under which a process dies or falls silent, as in `bench failover`."""
AFTER_S = 1.0
"""An outage is over when every caller has the answer of a call that it began so long after the fault."""
JOURNAL_RATIOS = {"hdfs": "qjm_real_over_ssp", "bookkeeper": "bookkeeper_real_over_ssp"}
Figures = dict[str, float]


class PeerScale(msgspec.Struct, frozen=True):
    """How long everything is measured; times in seconds."""

    rounds: int
    """Systems take turns in each round, and the next round has the opposite order."""
    first_s: float
    """The same load beforehand, until a JVM has compiled what is called often."""
    warm_s: float
    """Warm-up of each figure."""
    window_s: float
    journal_s: float
    callers: tuple[int, ...] = (32, 128, 1)


FULL = PeerScale(rounds=3, first_s=15.0, warm_s=2.0, window_s=8.0, journal_s=4.0)
QUICK = PeerScale(rounds=1, first_s=1.0, warm_s=0.2, window_s=0.8, journal_s=0.5)


def rate_key(operation: str, callers: int) -> str:
    """Calls per second."""
    return f"{operation}_per_s_{callers}"


def journal_keys(rate: int) -> tuple[str, str]:
    """Mean milliseconds of a record until it is safe, and of a flush."""
    return f"journal_ms_{rate // 1_000}k", f"journal_flush_ms_{rate // 1_000}k"


def medians(rounds: list[Figures]) -> Figures:
    """The median of each figure over the rounds that have it."""
    keys = dict.fromkeys(key for figures in rounds for key in figures)
    return {key: round(median(each[key] for each in rounds if key in each), 3) for key in keys}


def ratios(found: Mapping[str, Figures]) -> Figures:
    """Latency of the real journals over that of SSP, by rate; the one without a rate is the least of all rates."""
    made: Figures = {}
    ssp = found.get(OURS, {})
    for system, name in JOURNAL_RATIOS.items():
        for rate in JOURNAL_RATES:
            key = journal_keys(rate)[0]
            theirs, mine = found.get(system, {}).get(key), ssp.get(key)
            if theirs and mine:
                made[f"{name}_{rate // 1_000}k"] = round(theirs / mine, 3)
        if of_rates := [value for key, value in made.items() if key.startswith(f"{name}_")]:
            made[name] = min(of_rates)
    return made


def order(names: list[str], number: int) -> list[str]:
    """The systems of round `number`, from 0: ours before each of the others, and every second round backwards."""
    others = [name for name in names if name != OURS]
    turns = [turn for name in others for turn in (OURS, name)] or [OURS]
    return turns[:: -1 if number % 2 else 1]
