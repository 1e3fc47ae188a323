"""How records travel, and the promised ballot on the disk."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.errors import Damaged
from nodes.protocols.paxos.ballot import pack_ballot, unpack_ballot
from nodes.protocols.paxos.messages import Accept, Success
from nodes.protocols.paxos.packing import MESSAGE_OCTETS, OnePerMessage, Packed

RECORDS = st.lists(st.integers(1, MESSAGE_OCTETS // 2).map(bytes), max_size=5)


@given(RECORDS, st.integers(0, 9), st.integers(0, 9))
def test_every_record_travels_once_in_order(records: list[bytes], told: int, more: int) -> None:
    for packing in (Packed(), OnePerMessage()):
        messages = list(packing.messages(3, told, told + more, 7, records))
        accepts = [message for message in messages if isinstance(message, Accept)]
        assert [octets for message in accepts for octets in message.records] == records
        first = 7
        for message in accepts:
            assert message.first == first and sum(map(len, message.records)) <= MESSAGE_OCTETS
            first += len(message.records)
        decided = [m.slot if isinstance(m, Success) else m.success for m in messages]
        assert max(decided, default=told) == (told + more if more or records else told) or (
            isinstance(packing, OnePerMessage) and not more
        )


def test_packed_is_one_message_and_unpacked_two_for_each_record() -> None:
    records = [b"a", b"b", b"c"]
    assert len(list(Packed().messages(1, 0, 3, 4, records))) == 1
    assert len(list(OnePerMessage().messages(1, 0, 3, 4, records))) == 6


@given(st.integers(0, (1 << 32) - 1))
def test_a_ballot_comes_back_from_the_disk(ballot: int) -> None:
    assert unpack_ballot(pack_ballot(ballot)) == ballot


@pytest.mark.parametrize(
    ("octets", "words"),
    [
        (b"", "0 octets"),
        (b"12", "2 octets"),
        (pack_ballot(7)[:-1] + b"x", "checksum"),
        (pack_ballot(7).replace(b"\1\0", b"\2\0", 1), "format 2"),
    ],
)
def test_a_damaged_ballot_is_refused_in_one_line(octets: bytes, words: str) -> None:
    with pytest.raises(Damaged, match=words):
        unpack_ballot(octets)
