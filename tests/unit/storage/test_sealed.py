"""A sealed file returns its sealed content or one line about its defect, whatever damage it has."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.storage.sealed_file import SealBroken, seal, unseal

MAGIC = b"CLVRTEST"


@settings(deadline=None)
@given(st.lists(st.integers(0, 1 << 60)), st.data())
def test_no_damage_goes_unseen(content: list[int], data: st.DataObject) -> None:
    payload = bytearray(seal(MAGIC, 1, content))
    assert unseal("state", MAGIC, 1, bytes(payload), list[int]) == content
    place = data.draw(st.integers(0, len(payload) - 1))
    payload[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(SealBroken, match="the file state "):
        unseal("state", MAGIC, 1, bytes(payload[: data.draw(st.integers(0, len(payload)))]), list[int])


def test_both_formats_are_named() -> None:
    with pytest.raises(SealBroken, match=r"format 2.*reads format 1"):
        unseal("state", MAGIC, 1, seal(MAGIC, 2, 0), int)
