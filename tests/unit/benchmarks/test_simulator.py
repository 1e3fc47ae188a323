"""`bench simulator`: the bare loop handles the messages that a simulated group has sent."""

from __future__ import annotations

from benchmarks.simulator import bare_messages_per_s, recorded


def test_the_bare_loop_repeats_the_messages_of_a_group_and_is_faster_than_it() -> None:
    codec, frames = recorded(1)
    kinds = {type(message).__name__ for frame in frames for message in frame}
    assert {"Request", "Prepare", "Prepared", "Answer"} <= kinds
    assert codec.decode(codec.encode(frames[0])) == frames[0]
    assert bare_messages_per_s(codec, frames, 0.05) > 1_000
