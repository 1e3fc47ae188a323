"""`python -m backend.scenarios.family_matrix > docs/scenarios-by-family.md`: runs every shipped scenario on every family, once, on the simulator."""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from pathlib import Path

from backend.errors import LabError
from backend.repository import REPOSITORY
from backend.scenarios.family_translation import on_family, refusal
from backend.scenarios.model import Scenario
from backend.scenarios.reader import read
from backend.scenarios.runner import run
from nodes.families import FAMILIES

SCENARIOS = REPOSITORY / "scenarios"
HELD, NOT_HELD, REFUSED = "held", "**not held**", "-"
HEAD = """# Every scenario on every family

`./cloverlab run FILE --protocol NAME` runs a file on another family than its own: the same workload, faults and expectations, with the roles
of that family. A scenario that makes no sense there (-) is refused in one line. `python -m backend.scenarios.family_matrix` wrote this page. It runs
every file once on the simulator, with the file's own seed.

Two expectations are left out on other families: the rows of the paper's Table 3, which are those of `mams`; and, on `backupnode`, the invariants,
because it exists to show lost writes. Where a majority of the servers must stay, a group has as many as leave one; names of journal nodes
become those of bookies and the other way round; a single server stands for all of its group.
"""


def files() -> list[Path]:
    return sorted(SCENARIOS.rglob("*.yaml"))


def shown(path: Path) -> str:
    return path.relative_to(SCENARIOS).as_posix()


def reason(scenario: Scenario, protocol: str) -> str:
    """Reason of a refusal without names; empty for a scenario that the family can run."""
    return refusal(scenario, protocol).rpartition(f" is not for {protocol}: ")[2]


def refusals(path: Path) -> dict[str, str]:
    """Reasons by family for which a file cannot run. A file of several scenarios is refused when none of them can run."""
    found: dict[str, str] = {}
    scenarios = read(path)
    for protocol in FAMILIES:
        lines = [reason(scenario, protocol) for scenario in scenarios]
        if all(lines):
            found[protocol] = lines[0]
    return found


def played(path: Path, protocol: str) -> tuple[str, str]:
    """Content of a cell, and the expectations that did not hold."""
    count, missed = 0, []
    for scenario in read(path):
        if refusal(scenario, protocol):
            continue
        count += 1
        try:
            outcome = asyncio.run(run(on_family(scenario, protocol), "simulated", scenario.seed))
        except LabError as error:
            missed.append(error.message)
            continue
        missed += [] if outcome.calls else ["no call was made"]
        missed += [f"{each.expected}: {each.seen}" for each in outcome.verdicts if not each.held]
    several = f" ({count})" if count > 1 else ""
    return (NOT_HELD if missed else HELD) + several, "; ".join(missed)


def table(cells: dict[str, dict[str, str]]) -> str:
    """The Markdown table of cells by file and family."""
    head = ["file", *FAMILIES]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    lines += [
        f"| {file} | {' | '.join(of.get(protocol, REFUSED) for protocol in FAMILIES)} |"
        for file, of in cells.items()
    ]
    return "\n".join(lines) + "\n"


def why(refused: dict[str, dict[str, str]]) -> str:
    """Families that refuse each file, with the reason."""
    lines = ["| file | is not for | because |", "|---|---|---|"]
    for file, of in refused.items():
        by_reason: dict[str, list[str]] = defaultdict(list)
        for protocol, line in of.items():
            by_reason[line.replace(protocol, "the family")].append(protocol)
        lines += [f"| {file} | {', '.join(names)} | {line} |" for line, names in by_reason.items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Returns 1 when an expectation did not hold."""
    cells: dict[str, dict[str, str]] = {}
    refused = {shown(path): refusals(path) for path in files()}
    failed = 0
    for path in files():
        file = shown(path)
        cells[file] = {}
        for protocol in FAMILIES:
            if protocol in refused[file]:
                continue
            cells[file][protocol], missed = played(path, protocol)
            failed += bool(missed)
            print(f"{file} {protocol}: {missed or 'held'}", file=sys.stderr, flush=True)
    print(f"{HEAD}\n{table(cells)}\n## Why not\n\n{why(refused)}", end="")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
