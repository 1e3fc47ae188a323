"""A damaged link flips bits only in content, and the content's own checksums detect it."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.storage.chunks import first_bad, sums_of
from nodes.wire.damage import damaged
from nodes.wire.data_messages import Packet, PacketAcked


@settings(deadline=None, max_examples=50)
@given(st.binary(min_size=1, max_size=2_000), st.integers())
def test_a_damaged_packet_is_known_by_its_checksums(data: bytes, seed: int) -> None:
    packet = Packet(1, 1, 0, data, sums_of(data), False)
    changed = damaged(packet, Random(seed))
    assert isinstance(changed, Packet)
    assert packet.data == data and len(changed.data) == len(data)
    assert first_bad(changed.data, changed.sums) >= 0


def test_what_carries_no_content_is_left_alone() -> None:
    acked = PacketAcked(1, 1, 512, False, "dn1", "")
    assert damaged(acked, Random(1)) is acked
    empty = Packet(1, 1, 0, b"", b"", True)
    assert damaged(empty, Random(1)) is empty
