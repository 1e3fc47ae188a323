"""Records that name their writer: whole, torn and damaged ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.explore.content import HEAD, MAGIC, read_back, record

A, B = record("c1/3", 30), record("c2/14", 0)


def test_records_are_read_in_order() -> None:
    assert read_back(A + B + A).tags == ["c1/3", "c2/14", "c1/3"]
    assert read_back(b"").tags == []


@given(st.integers(0, len(A) - 1))
def test_the_beginning_of_a_record_is_right_wherever_it_breaks_off(size: int) -> None:
    assert read_back(A[:size] + B) == read_back(B)
    assert read_back(B + A[:size]) == read_back(B)


@given(st.integers(0, len(A) - 1))
def test_one_wrong_bit_is_seen(at: int) -> None:
    damaged = bytearray(A + B)
    damaged[at] ^= 1
    found = read_back(bytes(damaged))
    assert found.wrong_at >= 0 or found.tags != ["c1/3", "c2/14"]


@pytest.mark.parametrize("content", [A + b"x" + B, b"x" + A, A[:-1] + b"z", MAGIC + b"\xff" * HEAD.size])
def test_bytes_that_nobody_wrote_are_seen(content: bytes) -> None:
    assert read_back(content).wrong_at >= 0
