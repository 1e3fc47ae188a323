"""The last run as a table and plots, and the part of docs/benchmarks.md that shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from backend.repository import REPOSITORY
from benchmarks._model import Chart, Point
from benchmarks._peers.figures import JOURNAL_RATES, OPERATIONS, Figures, journal_keys, rate_key
from benchmarks.experiments.charts import svg

DOCS = REPOSITORY / "docs"
PAGE = DOCS / "benchmarks.md"
PART = re.compile(r"(<!-- peers -->\n).*?(<!-- end -->\n)", re.DOTALL)
CALLERS = (1, 32, 128)
GAPS = {
    "kill_gap_ms": "process dies: outage, ms",
    "silent_gap_ms": "host falls silent: outage, ms",
    "silent_gap_ms_2s_calls": "the same, calls time out after 2 s",
}
WHOLE = {
    "start_s": "from empty directories to the first answer, s",
    "rss_mb_start": "memory of all processes then, MiB",
    "rss_mb": "memory of all processes after the load, MiB",
    "failed_calls": "failed calls",
}


def labels() -> Iterator[tuple[str, str]]:
    """Key and label of each row, in the order of the table."""
    for operation in OPERATIONS:
        for callers in CALLERS:
            yield (
                rate_key(operation, callers),
                f"{operation}, {callers} {'caller' if callers == 1 else 'callers'}, per s",
            )
    for rate in JOURNAL_RATES:
        for key, what in zip(journal_keys(rate), ("record", "flush"), strict=True):
            yield key, f"journal at {rate:,} records/s: {what}, ms"
        yield f"journal_per_s_{rate // 1_000}k", f"journal at {rate:,} records/s: safe, per s"
    yield from GAPS.items()
    yield from WHOLE.items()


def shown(value: float | None) -> str:
    """Three digits, or whole numbers; a dash for what a system does not do."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 or value == 0 else f"{value:.3g}"


def rows(found: Mapping[str, Figures]) -> list[list[str]]:
    """Label and values of each figure that any system has."""
    return [
        [label, *(shown(figures.get(key)) for figures in found.values())]
        for key, label in labels()
        if any(key in figures for figures in found.values())
    ]


def markdown(found: Mapping[str, Figures], versions: Mapping[str, str]) -> str:
    """The table; each column is a system with its version."""
    head = ["", *(f"{name} {versions.get(name, '')}".strip() for name in found)]
    lines = [head, ["---"] * len(head), *rows(found)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def charts(found: Mapping[str, Figures]) -> dict[str, Chart]:
    """The plots by name, those that have anything to show."""
    drawn = {
        "rates": bars(
            found,
            "Calls with 32 callers",
            "calls per second",
            {rate_key(each, 32): each for each in OPERATIONS},
        ),
        "callers": Chart(
            "Files created, by callers",
            "callers",
            "calls per second",
            curves(found, {callers: rate_key("create", callers) for callers in CALLERS}),
        ),
        "journal": Chart(
            "Journal records of 1 KB, three copies",
            "records per second",
            "ms until a record is safe",
            curves(found, {rate: journal_keys(rate)[0] for rate in JOURNAL_RATES}),
            logarithmic=True,
        ),
        "outages": bars(
            found,
            "Outage that a client sees",
            "milliseconds",
            {key: GAPS[key] for key in list(GAPS)[:2]},
            True,
        ),
    }
    return {name: chart for name, chart in drawn.items() if chart.series}


def bars(
    found: Mapping[str, Figures],
    title: str,
    y_title: str,
    names: Mapping[str, str],
    logarithmic: bool = False,
) -> Chart:
    """One group of bars for each of these keys that some system has, one bar for each system that has it."""
    names = {key: name for key, name in names.items() if any(each.get(key, 0) > 0 for each in found.values())}
    series: dict[str, list[Point]] = {}
    for name, figures in found.items():
        points = [(float(place), figures[key]) for place, key in enumerate(names) if figures.get(key, 0) > 0]
        if points:
            series[name] = points
    return Chart(title, "", y_title, series, "bars", list(names.values()), logarithmic)


def curves(found: Mapping[str, Figures], keys: Mapping[int, str]) -> dict[str, list[Point]]:
    """Points over the numbers of these keys."""
    series: dict[str, list[Point]] = {}
    for name, figures in found.items():
        points = [(float(x), figures[key]) for x, key in keys.items() if figures.get(key, 0) > 0]
        if points:
            series[name] = points
    return series


def part(run: Mapping[str, Any], plots: list[str]) -> str:
    """What the page says of a run, the object that the command prints."""
    config, machine, figures = run["config"], run["machine"], run["figures"]
    found = {name: figures[name] for name in config["systems"] if name in figures}
    lines = [
        f"{config['date']}; {machine['cores']} cores, {machine['memory_gib']} GiB, Python {machine['python']}, {config['java']}; "
        f"medians of {config['rounds']} rounds.\n\n",
        markdown(found, config["versions"]),
    ]
    ratios = {key: value for key, value in figures.items() if isinstance(value, float)}
    if ratios:
        lines.append("\n" + ", ".join(f"`{key}` {value:.2f}" for key, value in ratios.items()) + ".\n")
    for reason in figures["missing"].values():
        lines.append(f"\n{reason}.\n")
    lines += [f"\n![{name}]({file_of(name)})\n" for name in plots]
    return "".join(lines)


def file_of(plot: str) -> str:
    return f"benchmarks-peers-{plot}.svg"


def page(text: str, new: str) -> str:
    """The page with that part in its place."""
    return PART.sub(lambda found: found[1] + new + found[2], text)


def write(run: Mapping[str, Any], drawn: Mapping[str, Chart], docs: Path = DOCS) -> None:
    """Replaces the part of the page and its plots."""
    for name, chart in drawn.items():
        (docs / file_of(name)).write_text(svg(name, chart))
    path = docs / PAGE.name
    path.write_text(page(path.read_text(), part(run, list(drawn))))
