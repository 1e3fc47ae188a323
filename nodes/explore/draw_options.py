"""Options of faults, drawn by verb."""

from __future__ import annotations

import random
from typing import Any

from nodes.config import ClusterConfig
from nodes.explore.draw_triggers import draw_kind
from nodes.faults.table import FAILING, TORN

Options = dict[str, Any]
SHARES = (0.05, 0.3, 1.0)


def draw_options(rng: random.Random, cluster: ClusterConfig, verb: str) -> Options:
    """The options of a verb; some have none."""
    options = {name: rng.choice(values) for name, values in CHOICES.get(verb, {}).items()}
    if verb == "hold":
        options |= {"kind": draw_kind(rng, cluster), "lost": rng.random() < 0.5}
    return options


WAY: dict[str, tuple[Any, ...]] = {"direction": ("both", "both", "to", "from")}
CHOICES: dict[str, dict[str, tuple[Any, ...]]] = {
    "power_loss": {"torn": TORN},
    "cut": WAY,
    "hold": WAY,
    "clog": WAY,
    "delay": {**WAY, "ms": (1, 5, 50, 600)},
    "lose": {**WAY, "share": (0.05, 0.3, 0.6)},
    "damage": {**WAY, "share": SHARES},
    "duplicate": {**WAY, "share": SHARES},
    "reorder": {**WAY, "share": SHARES},
    "slow_disk": {"ms": (5, 50, 700), "share": (0.1, 1.0)},
    "fail_disk": {"what": FAILING, "times": (0, 1, 1, 3)},
    "fill_disk": {"free": (0, 4_096, 65_536)},
    "corrupt": {"what": ("journal", "journal_tail", "image", "block"), "place": ("middle", "drawn")},
    "skew_clock": {"ms": (-60_000, -500, 500, 60_000, 3_000_000)},
    "drift_clock": {"ppm": (-80_000, -1_000, 1_000, 80_000)},
}
