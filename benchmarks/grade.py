"""Implementation labs: the reference of each over 300 seeds, and how many typical mistakes are found, each for its reason."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from backend.errors import Malformed
from backend.grading.supervisor import Graded, grade
from benchmarks._cluster import report
from benchmarks.submissions import MISTAKES, reference, wrong

SEEDS = 300
SEEDS_MOST = 10_000


def measured(lab: str, source: str, seeds: int) -> Graded:
    with tempfile.TemporaryDirectory(prefix="cloverlab-grade-") as directory:
        file = Path(directory) / "part.py"
        file.write_text(source)
        return grade(lab, file, range(1, seeds + 1), os.cpu_count() or 1)


def main(seeds: str = str(SEEDS)) -> int:
    """`[SEEDS]`: number of seeds. Prints one JSON object."""
    if not seeds.isdecimal() or not 0 < int(seeds) <= SEEDS_MOST:
        raise Malformed(f"{seeds[:40]!r} is no number of seeds between 1 and {SEEDS_MOST}")
    figures: dict[str, float] = {}
    well = True
    for lab, mistakes in MISTAKES.items():
        right = measured(lab, reference(lab).read_text(), int(seeds))
        key = lab.replace("-", "_")
        figures[f"{key}_s"] = round(right.took_s, 1)
        figures[f"{key}_passed"] = right.passed
        found = 0
        for mistake in mistakes:
            judged = measured(lab, wrong(lab, mistake), int(seeds)).failed
            found += judged is not None and judged.invariant in mistake.breaks
            seen = "nothing" if judged is None else f"seed {judged.seed}: {judged.invariant}"
            print(f"{lab}: {mistake.name}: {seen}", file=sys.stderr)
        figures[f"{key}_mistakes_found"], figures[f"{key}_mistakes"] = found, len(mistakes)
        well = well and right.well and found == len(mistakes)
    report("grade", {"seeds": int(seeds), "labs": list(MISTAKES)}, figures, {})
    return 0 if well else 1
