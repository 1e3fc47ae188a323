"""The results of a run, as JSON, as lines for a terminal, or as one self-contained HTML page."""

from __future__ import annotations

import html
from pathlib import Path

import msgspec
from rich.console import Console
from rich.markup import escape

from backend.errors import Malformed
from backend.scenarios import plots
from backend.scenarios.runner import ScenarioOutcome

COLOURS = {"A": "#1f8f5f", "P": "#1f8f5f", "M": "#1f8f5f", "S": "#3b74c9", "J": "#c98a1b", "-": "#c9ced6"}
HEAD = """<!doctype html><meta charset="utf-8"><title>{title}</title><style>
body{{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b2430}}
table{{border-collapse:collapse}}td,th{{padding:.25rem .75rem;text-align:left;border-bottom:1px solid #dde2e8;vertical-align:top}}
svg text{{font:13px system-ui,sans-serif;fill:currentColor}}polyline{{fill:none;stroke-width:2}}.ok{{stroke:#1f8f5f}}.failed{{stroke:#c0392b}}
.outage{{fill:#c98a1b;opacity:.3}}.step{{stroke:currentColor;stroke-dasharray:2 3;opacity:.6}}
.no{{color:#b3261e;font-weight:600}}.yes{{color:#1f7a4d}}svg{{width:100%;height:auto}}
@media(prefers-color-scheme:dark){{body{{background:#14181d;color:#e6eaf0}}td,th{{border-color:#2c343d}}.yes{{color:#5ecb97}}.no{{color:#ff8a80}}}}
</style>"""


def write(path: Path, outcomes: list[ScenarioOutcome]) -> None:
    """Writes the results in the format of the file's suffix. Raises Malformed."""
    if path.suffix == ".json":
        data = as_json(outcomes)
    elif path.suffix in (".html", ".htm"):
        data = page(outcomes).encode()
    else:
        raise Malformed(f"--report {path}: the name ends in .json or .html")
    try:
        path.write_bytes(data)
    except OSError as error:
        raise Malformed(f"--report {path}: {error.strerror}") from None


def as_json(outcomes: list[ScenarioOutcome]) -> bytes:
    """One result, or a list of several."""
    reported: list[ScenarioOutcome] | ScenarioOutcome = outcomes[0] if len(outcomes) == 1 else outcomes
    return msgspec.json.format(msgspec.json.encode(reported), indent=1)


def report(console: Console, outcome: ScenarioOutcome) -> None:
    """Prints a few lines about a run."""
    mark = "[green]held[/green]" if outcome.held else "[red]NOT held[/red]"
    console.print(f"[bold]{escape(outcome.name)}[/bold] on {outcome.on}, seed {outcome.seed}: {mark}")
    for verdict in outcome.verdicts:
        sign = "[green]✓[/green]" if verdict.held else "[red]✗[/red]"
        console.print(f"  {sign} {escape(verdict.expected)}: ", end="")
        console.print(verdict.seen, markup=False, highlight=False)
    seconds = (outcome.ended_ns - outcome.started_ns) / 1e9
    console.print(
        f"  {outcome.calls} calls, {outcome.failed_calls} failed, longest outage "
        f"{outcome.longest_outage_ms:.0f} ms, {seconds:.1f} s"
    )
    if outcome.story:
        console.print("  what led to it, since the workload began:")
        report_story(console, outcome.story)


def report_story(console: Console, lines: list[str]) -> None:
    """Prints the story that led to a failure, for a terminal of any width."""
    for line in lines:
        console.print(f"    {line}", markup=False, highlight=False, soft_wrap=True)


def page(outcomes: list[ScenarioOutcome]) -> str:
    title = html.escape(outcomes[0].name if outcomes else "nothing")
    return HEAD.format(title=title) + "".join(section(outcome) for outcome in outcomes)


def section(outcome: ScenarioOutcome) -> str:
    held = '<span class="yes">held</span>' if outcome.held else '<span class="no">not held</span>'
    verdicts = "".join(
        f'<tr><td class="{"yes" if v.held else "no"}">{"✓" if v.held else "✗"}</td>'
        f"<td>{html.escape(v.expected)}</td><td>{html.escape(v.seen)}</td></tr>"
        for v in outcome.verdicts
    )
    ticked = "".join(
        f'<tr><td class="{"yes" if s.state == "done" else "no"}">{"✓" if s.state == "done" else "✗"} {s.number}</td>'
        f"<td>{s.at_ns / 1e9:.3f} s</td><td>{html.escape(s.text)}</td><td>{html.escape(s.why)}</td></tr>"
        for s in outcome.steps
    )
    happened = "".join(
        f"<tr><td>{at_ns / 1e9:.3f} s</td><td>{html.escape(server)}</td><td>{html.escape(what)}</td></tr>"
        for at_ns, server, what in outcome.timeline
        if at_ns >= 0
    )
    story = html.escape("\n".join(outcome.story))
    led_to_it = f"<h2>What led to it</h2><pre>{story}</pre>" if story else ""
    return (
        f"<h1>{html.escape(outcome.name)}</h1><p>{html.escape(outcome.teaches)} "
        f"<small>{html.escape(outcome.paper)}</small></p><p>On {outcome.on}, seed {outcome.seed}: {held}. "
        f"{outcome.calls} calls, {outcome.failed_calls} failed, longest outage "
        f"{outcome.longest_outage_ms:.0f} ms.</p>{bands(outcome)}{called(outcome)}<h2>Expectations</h2><table>{verdicts}</table>"
        f"<h2>Steps</h2><table>{ticked}</table>{led_to_it}<h2>What happened</h2><table>{happened}</table>"
    )


def called(outcome: ScenarioOutcome) -> str:
    plot = plots.calls(outcome)
    return (
        f"<h2>Calls a second</h2><p>Shaded: no success although a call waited. Numbers: steps.</p>{plot}"
        if plot
        else ""
    )


def bands(outcome: ScenarioOutcome) -> str:
    """The role letters of each server over time, as a drawing."""
    begin, end = outcome.started_ns, max(outcome.ended_ns, outcome.started_ns + 1)
    width, height = 900, 28

    def x(at_ns: int) -> float:
        return 60 + (width - 60) * (min(max(at_ns, begin), end) - begin) / (end - begin)

    parts: list[str] = []
    columns = [(group, place) for group in outcome.groups for place in range(len(group.servers))]
    for line, (group, place) in enumerate(columns):
        server, y = group.servers[place], line * height
        parts.append(
            f'<text x="0" y="{y + 18}" font-size="14" fill="currentColor">{html.escape(server)}</text>'
        )
        for row, following in zip(group.rows, [*group.rows[1:], None], strict=True):
            letter, until = row.letters[place], end if following is None else following.at_ns
            if until <= begin:
                continue
            left, wide = x(row.at_ns), x(until) - x(row.at_ns)
            parts.append(
                f'<rect x="{left:.1f}" y="{y + 3}" width="{wide:.1f}" height="20" fill="{COLOURS[letter]}"/>'
            )
            if wide > 16:
                parts.append(
                    f'<text x="{left + 4:.1f}" y="{y + 18}" font-size="13" fill="#fff">{letter}</text>'
                )
    total = height * len(columns)
    return f'<svg viewBox="0 0 {width} {total}" role="img" aria-label="State letters over time">{"".join(parts)}</svg>'
