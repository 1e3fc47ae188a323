"""Link rules of one process: what passes, twice, late, or not at all."""

from __future__ import annotations

import random

from nodes.real.links import MILLISECOND, REORDER_NS, DirectionFaults, LinkRule, LinkRules
from nodes.trace.present import UNKNOWN, Caused
from nodes.wire.messages import AskView

MANY = 2_000


def way_of(*rules: LinkRule) -> DirectionFaults:
    links = LinkRules()
    links.replace(list(rules))
    way = links.way("mds2", "to")
    assert way is not None
    return way


def many() -> Caused:
    return [AskView(1)] * MANY, [UNKNOWN] * MANY


def test_a_share_of_the_messages_arrives_twice() -> None:
    way, rng = way_of(LinkRule("mds2", "to", duplicate=0.25)), random.Random(1)
    messages, causes = way.passed(many(), rng)
    assert len(messages) == len(causes)
    assert 1.2 * MANY < len(messages) < 1.3 * MANY


def test_a_share_of_the_messages_is_late_within_the_bound() -> None:
    way, rng = way_of(LinkRule("mds2", "to", reorder=0.25)), random.Random(1)
    late = [late_ns for late_ns in (way.late_ns(rng) for _ in range(MANY)) if late_ns]
    assert 0.2 * MANY < len(late) < 0.3 * MANY
    assert min(late) > 0 and max(late) <= REORDER_NS + 1


def test_jitter_adds_up_to_the_delay_of_each_frame() -> None:
    rules = (LinkRule("mds2", "to", delay_ms=20, jitter_ms=5), LinkRule("*", "both", jitter_ms=5))
    way, rng = way_of(*rules), random.Random(1)
    took_ms = [way.takes_ns(rng) / MILLISECOND for _ in range(MANY)]
    assert 20 <= min(took_ms) < 21 and 29 < max(took_ms) <= 30


def test_without_such_a_rule_every_message_passes_once_and_in_order() -> None:
    way, rng = way_of(LinkRule("mds2", "to", delay_ms=20)), random.Random(1)
    assert way.passed(many(), rng) == many()
    assert (way.late_ns(rng), way.takes_ns(rng)) == (0, 20 * MILLISECOND)
