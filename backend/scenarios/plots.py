"""Drawings of a report: calls over time, with outages and steps, as SVG."""

from __future__ import annotations

import html
from collections.abc import Callable

from backend.scenarios.call_times import CallCurve
from backend.scenarios.runner import ScenarioOutcome

WIDTH, HEIGHT = 900, 200
LEFT, TOP, BOTTOM = 60, 22, 24
TICKS = 6
LABEL_WIDTH = 16
NS_PER_S = 1e9
Axis = Callable[[float], float]


def calls(outcome: ScenarioOutcome) -> str:
    """Calls a second that succeeded and that failed; outages are shaded, and each step is a numbered line. Empty without calls."""
    curve = outcome.curve
    if curve is None or not (any(curve.ok) or any(curve.failed)):
        return ""
    seconds = max(len(curve.ok) * curve.bucket_ns / NS_PER_S, 0.001)
    per_s = NS_PER_S / curve.bucket_ns
    most = max(*curve.ok, *curve.failed, 1) * per_s

    def x(at_s: float) -> float:
        return LEFT + (WIDTH - LEFT) * min(max(at_s, 0.0), seconds) / seconds

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / most

    shaded = "".join(
        f'<rect class="outage" x="{x(begin / NS_PER_S):.1f}" y="{TOP}" height="{HEIGHT - BOTTOM - TOP}" '
        f'width="{x(end / NS_PER_S) - x(begin / NS_PER_S):.1f}"><title>{(end - begin) / NS_PER_S:.2f} s without a success</title></rect>'
        for begin, end in curve.outages
    )
    ticks = "".join(
        f'<text x="{x(seconds * tick / TICKS):.1f}" y="{HEIGHT - 6}" text-anchor="{"end" if tick == TICKS else "middle"}">'
        f"{seconds * tick / TICKS:.3g} s</text>"
        for tick in range(TICKS + 1)
    )
    steps = "".join(
        f'<line class="step" x1="{x(step.at_ns / NS_PER_S):.1f}" x2="{x(step.at_ns / NS_PER_S):.1f}" y1="{TOP - 6}" y2="{HEIGHT - BOTTOM}">'
        f"<title>{html.escape(step.text)}</title></line>"
        f'<text x="{place:.1f}" y="{TOP - 8}">{step.number}</text>'
        for step, place in zip(
            outcome.steps, apart([x(step.at_ns / NS_PER_S) + 3 for step in outcome.steps]), strict=True
        )
    )
    lines = "".join(
        f'<polyline class="{name}" points="{points(values, curve, per_s, x, y)}"/>'
        for name, values in (("ok", curve.ok), ("failed", curve.failed))
        if any(values)
    )
    return (
        f'<svg class="calls" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Calls a second over time">'
        f'{shaded}<text x="0" y="{TOP + 4}">{most:.3g}/s</text><text x="0" y="{HEIGHT - BOTTOM}">0/s</text>{ticks}{steps}{lines}</svg>'
    )


def apart(places: list[float]) -> list[float]:
    """The places of numbers from left to right, moved so that none covers another one."""
    free, found = 0.0, []
    for place in places:
        found.append(max(place, free))
        free = found[-1] + LABEL_WIDTH
    return found


def points(values: list[int], curve: CallCurve, per_s: float, x: Axis, y: Axis) -> str:
    return " ".join(
        f"{x((place + 0.5) * curve.bucket_ns / NS_PER_S):.1f},{y(value * per_s):.1f}"
        for place, value in enumerate(values)
    )
