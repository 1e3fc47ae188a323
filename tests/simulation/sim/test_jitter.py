"""Jitter of a simulated link: messages take up to that much more, and keep their order."""

from __future__ import annotations

from nodes.sim.links import SimLink

MILLISECOND = 1_000_000


def test_jitter_is_drawn_for_each_message_which_keep_their_order() -> None:
    link = SimLink(stream="jitter")
    calm = [link.arrival_ns(at_ns) - at_ns for at_ns in range(0, 1_000 * MILLISECOND, 10 * MILLISECOND)]
    link.mend()
    link.delay_ns, link.jitter_ns = 20 * MILLISECOND, 30 * MILLISECOND
    sent = range(2_000 * MILLISECOND, 9_000 * MILLISECOND, 100 * MILLISECOND)
    arrived = [link.arrival_ns(at_ns) for at_ns in sent]
    assert arrived == sorted(arrived)
    took = [at - left for at, left in zip(arrived, sent, strict=True)]
    assert min(took) >= 20 * MILLISECOND and max(took) <= 50 * MILLISECOND + max(calm)
    assert max(took) - min(took) > 15 * MILLISECOND


def test_a_mended_link_has_no_jitter() -> None:
    link = SimLink(stream="jitter")
    link.jitter_ns = 30 * MILLISECOND
    link.mend()
    assert link.jitter_ns == 0
