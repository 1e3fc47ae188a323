"""The explorer draws only faults of the table."""

from __future__ import annotations

import random

import pytest

from nodes.explore.draw import draw
from nodes.explore.draw_faults import DRAWN, FaultDrawer
from nodes.explore.plan import Fault
from nodes.families import FAMILIES
from nodes.faults.check import resolved, verb_named
from nodes.faults.table import BY_NAME

ORDERS = ("mark", "recover", "hand_over")
"""Actions drawn beside faults: orders of an operator."""


def drawn(protocol: str) -> list[Fault]:
    """Faults of stories, episodes and scattered faults."""
    plan = draw(1, protocol)
    drawer = FaultDrawer(random.Random(1), plan.cluster, ["c1"], plan.span_ms)
    scattered = [fault for _ in range(200) for fault in drawer.draw()]
    return scattered + [fault for seed in range(40) for fault in draw(seed, protocol).faults]


@pytest.mark.parametrize("protocol", FAMILIES)
def test_drawn_options_are_those_of_the_table(protocol: str) -> None:
    faults = [fault for fault in drawn(protocol) if fault.verb not in ORDERS]
    assert faults
    for fault in faults:
        assert (
            resolved(verb_named(fault.verb, "simulated"), fault.options, "simulated").keys()
            >= fault.options.keys()
        )


def test_the_table_says_what_is_drawn() -> None:
    verbs = {fault.verb for protocol in FAMILIES for fault in drawn(protocol)}
    ours = {verb for verb in verbs if verb in BY_NAME and not BY_NAME[verb].mends}
    assert ours <= {verb.verb for verb in BY_NAME.values() if verb.drawn}
    assert set(DRAWN) - verbs == set()
