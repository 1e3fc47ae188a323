"""`cfs-fig12`: renewing of a junior that lacks many records, by image or by journals, and the final synchronisation without intake (CFS §5.5.3,
Fig. 12)."""

from __future__ import annotations

from typing import Any

import uvloop

from benchmarks import renewing
from benchmarks.experiments.model import Chart, Experiment, Outcome
from benchmarks.renewing import LARGE, PAPER, RECORDS, ROUNDS

QUICK_RECORDS = 500


def run(quick: bool) -> Outcome:
    """Raises RuntimeError when an invariant is violated."""
    figures: dict[str, Any] = {}
    if quick:
        broken = uvloop.run(renewing.small(figures, QUICK_RECORDS, 1))
    else:
        broken = uvloop.run(renewing.small(figures))
        broken += uvloop.run(renewing.large(figures, 500, "image"))
        broken += uvloop.run(renewing.large(figures, 1_000_000, "journal"))
    if broken:
        raise RuntimeError(broken[0])
    phases = {"image": "image_s", "journal": "journal_s"}
    bars = [(name, 1_000 * figures[key]) for name, key in phases.items() if key in figures]
    bars.append(("final synchronisation", figures["final_sync_10k_ms"]))
    chart = Chart(
        "Renewing of a junior", "", "milliseconds",
        {"ours": [(float(place), ms) for place, (_, ms) in enumerate(bars, 1)]},
        "bars", [name for name, _ in bars], True,
    )  # fmt: skip
    config = {"fabric": "processes", "standbys": 3, "records": RECORDS, "large": LARGE, "rounds": ROUNDS}
    return Outcome(config, {key: float(value) for key, value in figures.items()}, PAPER, chart, [NOTE])


NOTE = (
    "The paper stops intake for the whole final synchronisation; here most of the records have gone before intake stops, and final_sync_10k_ms "
    "is what stood still. The image and the journals are of 100,000 records."
)

EXPERIMENTS = [Experiment("cfs-fig12", "CFS §5.5.3, Fig. 12", "renewing a junior, phase by phase", run)]
