"""Encoding of records, and the promised ballot on the disk."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.errors import Damaged
from nodes.protocols.paxos.ballot import pack_ballot, unpack_ballot
from nodes.protocols.paxos.messages import Accept, Success
from nodes.protocols.paxos.packing import MESSAGE_BYTES, OnePerMessage, Packed

RECORDS = st.lists(st.integers(1, MESSAGE_BYTES // 2).map(bytes), max_size=5)


@given(RECORDS, st.integers(0, 9), st.integers(0, 9))
def test_every_record_travels_once_in_order(records: list[bytes], reported: int, more: int) -> None:
    for packing in (Packed(), OnePerMessage()):
        messages = list(packing.messages(3, reported, reported + more, 7, records))
        accepts = [message for message in messages if isinstance(message, Accept)]
        assert [data for message in accepts for data in message.records] == records
        first = 7
        for message in accepts:
            assert message.first == first and sum(map(len, message.records)) <= MESSAGE_BYTES
            first += len(message.records)
        decided = [m.slot if isinstance(m, Success) else m.success for m in messages]
        assert max(decided, default=reported) == (reported + more if more or records else reported) or (
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
    ("data", "words"),
    [
        (b"", "0 bytes"),
        (b"12", "2 bytes"),
        (pack_ballot(7)[:-1] + b"x", "checksum"),
        (pack_ballot(7).replace(b"\1\0", b"\2\0", 1), "format 2"),
    ],
)
def test_a_damaged_ballot_is_refused_in_one_line(data: bytes, words: str) -> None:
    with pytest.raises(Damaged, match=words):
        unpack_ballot(data)
