"""A sealed file: whatever was done to it, it says what was sealed or one line of what is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.storage.sealed import SealBroken, seal, unseal

MAGIC = b"CLVRTEST"


@settings(deadline=None)
@given(st.lists(st.integers(0, 1 << 60)), st.data())
def test_no_damage_goes_unseen(content: list[int], data: st.DataObject) -> None:
    octets = bytearray(seal(MAGIC, 1, content))
    assert unseal("state", MAGIC, 1, bytes(octets), list[int]) == content
    place = data.draw(st.integers(0, len(octets) - 1))
    octets[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(SealBroken, match="the file state "):
        unseal("state", MAGIC, 1, bytes(octets[: data.draw(st.integers(0, len(octets)))]), list[int])


def test_both_formats_are_named() -> None:
    with pytest.raises(SealBroken, match=r"format 2 .* reads format 1"):
        unseal("state", MAGIC, 1, seal(MAGIC, 2, 0), int)
