"""Files of the workload describe their own content, and a reader detects every defect."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.workloads.contents import HEAD, FileContent, read_back, record

NAME = "/work/d1/client1-7"
sizes = st.lists(st.integers(0, 700), min_size=1, max_size=6)


def file_of(lengths: list[int], first: int = 1) -> bytes:
    return b"".join(record(NAME, number, length) for number, length in enumerate(lengths, first))


@settings(deadline=None, max_examples=50)
@given(sizes)
def test_what_was_written_is_read_back(lengths: list[int]) -> None:
    assert read_back(NAME, file_of(lengths)) == FileContent(list(range(1, len(lengths) + 1)))


@settings(deadline=None, max_examples=50)
@given(sizes, st.data())
def test_a_file_that_breaks_off_has_the_records_that_are_whole(
    lengths: list[int], data: st.DataObject
) -> None:
    content = file_of(lengths)
    cut = data.draw(st.integers(0, len(content)))
    found = read_back(NAME, content[:cut])
    whole = [number for number in range(1, len(lengths) + 1) if len(file_of(lengths[:number])) <= cut]
    assert found == FileContent(whole)


@settings(deadline=None, max_examples=50)
@given(sizes, st.data())
def test_a_flipped_bit_in_what_was_written_is_found(lengths: list[int], data: st.DataObject) -> None:
    content = bytearray(file_of(lengths))
    bodies = [
        (number, place)
        for number, length in enumerate(lengths)
        for place in range(len(file_of(lengths[:number])) + HEAD.size, len(file_of(lengths[: number + 1])))
    ]
    if not bodies:
        return
    number, place = data.draw(st.sampled_from(bodies))
    content[place] ^= 1 << data.draw(st.integers(0, 7))
    assert read_back(NAME, bytes(content)) == FileContent(
        list(range(1, number + 1)), len(file_of(lengths[:number]))
    )


def test_another_files_bytes_and_a_record_twice_are_wrong() -> None:
    first = record(NAME, 1, 100)
    assert read_back("/work/other", first).wrong_at == 0
    assert read_back(NAME, first + first) == FileContent([1], len(first))


def test_a_record_that_a_recovery_took_is_missing_and_no_fault() -> None:
    assert read_back(NAME, record(NAME, 1, 10) + record(NAME, 4, 10)) == FileContent([1, 4])
