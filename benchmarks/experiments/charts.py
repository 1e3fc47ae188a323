"""The plot of an experiment as SVG."""

from __future__ import annotations

import math

import pygal
from pygal.style import Style

from benchmarks._model import Chart

COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#8250df", "#bc4c00", "#57606a", "#0a7ea4", "#bf3989")
LEGEND_MARGIN = 48
"""Room below the plot: the library puts the legend lower by the height of the x axis' title, which it does not count."""
STYLE = Style(
    background="#ffffff",
    plot_background="#ffffff",
    foreground="#24292f",
    foreground_strong="#24292f",
    foreground_subtle="#8c959f",
    colors=COLOURS,
    font_family="system-ui, sans-serif",
    guide_stroke_color="#eaeef2",
    major_guide_stroke_color="#d0d7de",
)


def svg(name: str, chart: Chart) -> str:
    """The SVG file; the same chart gives the same bytes."""
    drawn = _bars(chart) if chart.kind == "bars" else _curves(chart)
    drawn.uuid = name.replace(".", "-")
    reported: str = drawn.render(is_unicode=True)
    return reported


def _settings(chart: Chart) -> dict[str, object]:
    return {
        "title": chart.title,
        "x_title": chart.x_title,
        "y_title": chart.y_title,
        "width": 860,
        "height": 520,
        "js": [],
        "style": STYLE,
        "margin_bottom": LEGEND_MARGIN,
        "legend_at_bottom": True,
        "legend_at_bottom_columns": 3,
        "truncate_legend": -1,
    }


def _curves(chart: Chart) -> pygal.XY:
    points = [point for series in chart.series.values() for point in series]
    drawn = pygal.XY(
        **_settings(chart),
        xrange=(min(x for x, _ in points), max(x for x, _ in points)),
        y_labels=_ticks([y for _, y in points], chart.logarithmic),
        logarithmic=chart.logarithmic,
    )
    drawn.x_labels = sorted({x for x, _ in points}) if len({x for x, _ in points}) <= 12 else None
    for label, series in chart.series.items():
        drawn.add(label, series)
    return drawn


def _bars(chart: Chart) -> pygal.Bar:
    places = sorted({x for series in chart.series.values() for x, _ in series})
    ticks = _ticks([y for series in chart.series.values() for _, y in series], chart.logarithmic)
    drawn = pygal.Bar(
        **_settings(chart),
        y_labels=ticks,
        zero=ticks[0] if ticks else 0,
        logarithmic=chart.logarithmic,
    )
    drawn.x_labels = chart.x_names or [f"{x:g}" for x in places]
    for label, series in chart.series.items():
        heights = dict(series)
        drawn.add(label, [heights.get(x, None if chart.logarithmic else 0.0) for x in places])
    return drawn


def _ticks(heights: list[float], logarithmic: bool) -> list[float] | None:
    """Powers of ten around the values; None leaves a linear axis to the library."""
    if not logarithmic:
        return None
    low, high = math.floor(math.log10(min(heights))), math.ceil(math.log10(max(heights)))
    return [10.0**power for power in range(low, high + 1)]
