"""Rot of one bit in the right file, on a real disk and on a simulated one."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.real.control import BadQuestion
from nodes.real.rot import corrupt
from nodes.storage.rot import NothingToRot, choose

SIZES = {
    "blocks/01.blk": 100, "blocks/01.rep": 20, "blocks/02.blk": 50, "journal/1.log": 300, "journal/2.log": 90,
    "image/a.part0": 64, "epoch": 10, "aside/000001/journal/9.log": 77,
}  # fmt: skip


@pytest.mark.parametrize(
    ("what", "where"),
    [
        ("journal", ("journal/2.log", 45)),
        ("journal_tail", ("journal/2.log", 87)),
        ("image", ("image/a.part0", 32)),
        ("block", ("blocks/02.blk", 25)),
    ],
)
def test_the_newest_file_of_its_kind(tmp_path: Path, what: str, where: tuple[str, int]) -> None:
    assert choose(what, SIZES) == where
    for name, size in SIZES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(bytes(size))
    assert corrupt(tmp_path, what) == f"{where[0]} at byte {where[1]}"
    changed = {name for name, size in SIZES.items() if (tmp_path / name).read_bytes() != bytes(size)}
    assert changed == {where[0]}
    data = (tmp_path / where[0]).read_bytes()
    assert sum(octet.bit_count() for octet in data) == 1 and data[where[1]]


@pytest.mark.parametrize("what", ["image", "spirit", ""])
def test_what_is_not_there_is_one_line(tmp_path: Path, what: str) -> None:
    with pytest.raises(NothingToRot):
        choose(what, {"journal/1.log": 10, "image/empty": 0})
    with pytest.raises(BadQuestion, match=r"corrupt|no image"):
        corrupt(tmp_path, what)
