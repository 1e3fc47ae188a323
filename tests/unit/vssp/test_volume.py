"""The logical volume against reports: the replicas that count, the sources of repairs, and the files that are never touched."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.protocols.vssp.manifest import image_name, manifest_file, partition_file
from nodes.protocols.vssp.volume import (
    BadReport,
    Disagreement,
    RecoverReplica,
    RemoveReplica,
    check_report,
    compare,
    merge,
    rank,
)
from nodes.slots import StoredFile
from nodes.wire.messages import Mark

IMAGE = image_name(Mark(0, 1, 100, 0), 1)
OLDER = image_name(Mark(0, 1, 50, 0), 2)
DISK = 1 << 40


def journal(
    last_sn: int, checksum: int = 1, epoch: int = 1, incarnation: int = 0, first_sn: int = 1
) -> StoredFile:
    size = last_sn * 100
    return StoredFile("journal", size, size, checksum, incarnation, epoch, first_sn, last_sn)


def part(file: str, checksum: int = 5, size: int = 1000, valid: int | None = None) -> StoredFile:
    return StoredFile(f"image/{file}", size, size if valid is None else valid, checksum, 0, 1, 0, 100)


def image(*changed: StoredFile, name: str = IMAGE) -> list[StoredFile]:
    """A whole image of two partitions, with changed files in place."""
    files = {
        f"image/{file}": part(file)
        for file in (partition_file(name, 0), partition_file(name, 1), manifest_file(name))
    }
    return list((files | {file.name: file for file in changed}).values())


def test_two_equal_checksums_are_believed_over_a_third() -> None:
    found = compare(merge({"a": [journal(50, 7)], "b": [journal(50, 8)], "c": [journal(50, 7)]}))
    assert found == [RecoverReplica("b", "journal", "a", 0, "others have another group 50")]


def test_two_juniors_do_not_outvote_the_only_longer_copy() -> None:
    """Safety rule 18, `checksum_vote`: two juniors stopped at sn 50, the only copy at 80 counts."""
    found = compare(merge({"a": [journal(50, 7)], "b": [journal(50, 7)], "c": [journal(80, 9)]}))
    assert [(each.node, each.source, each.offset) for each in found if isinstance(each, RecoverReplica)] == [
        ("a", "c", 5000), ("b", "c", 5000)
    ]  # fmt: skip
    assert len(found) == 2


def test_a_longer_journal_of_an_older_epoch_is_not_cut() -> None:
    found = compare(merge({"a": [journal(80, 7, epoch=1)], "b": [journal(60, 8, epoch=2)]}))
    assert [type(each) for each in found] == [Disagreement] and found[0].node == "a"


def test_a_later_incarnation_goes_before_a_later_epoch() -> None:
    found = compare(merge({"a": [journal(50, 7, epoch=9)], "b": [journal(60, 8, epoch=1, incarnation=1)]}))
    assert [(each.node, each.source) for each in found if isinstance(each, RecoverReplica)] == [("a", "b")]


def test_two_that_differ_without_a_third_are_left_as_they_are() -> None:
    found = compare(merge({"a": [journal(50, 7)], "b": [journal(50, 8)]}))
    assert [type(each) for each in found] == [Disagreement, Disagreement]


@given(
    st.dictionaries(
        st.sampled_from("abcde"),
        st.builds(journal, st.integers(0, 4), st.integers(0, 2), st.integers(1, 3), st.integers(0, 1)),
        max_size=5,
    )
)
def test_no_journal_is_ever_cut_by_a_vote(reports: dict[str, StoredFile]) -> None:
    found = compare(merge({node: [file] for node, file in reports.items()}))
    for each in found:
        assert not isinstance(each, RemoveReplica)
        if isinstance(each, RecoverReplica):
            mine, source = reports[each.node], reports[each.source]
            assert rank(source) >= rank(mine) and source.last_sn >= mine.last_sn
            if rank(source) == rank(mine):
                votes = [r.checksum for r in reports.values() if rank(r) == rank(mine)]
                assert votes.count(source.checksum) > votes.count(mine.checksum)


def test_who_lacks_an_image_is_given_all_of_it_and_the_manifest_last() -> None:
    found = compare(merge({"a": image(), "b": image(), "c": []}), [IMAGE])
    assert [each.file for each in found] == [
        f"image/{file}" for file in (partition_file(IMAGE, 0), partition_file(IMAGE, 1), manifest_file(IMAGE))
    ]
    assert {each.node for each in found} == {"c"}
    assert len({each.source for each in found if isinstance(each, RecoverReplica)}) == 2, "both serve"


def test_a_damaged_partition_is_recovered_where_it_ends_to_be_good_and_takes_the_manifest_along() -> None:
    bad = part(partition_file(IMAGE, 1), checksum=6, valid=300)
    found = compare(merge({"a": image(), "b": image(bad), "c": image()}), [IMAGE])
    assert [(each.node, each.file[-8:], each.offset) for each in found if isinstance(each, RecoverReplica)] == [
        ("b", partition_file(IMAGE, 1)[-8:], 300), ("b", manifest_file(IMAGE)[-8:], 0)
    ]  # fmt: skip
    assert all(isinstance(each, RecoverReplica) and each.source != "b" for each in found)


def test_a_valid_partition_that_is_outvoted_is_read_anew() -> None:
    other = part(partition_file(IMAGE, 0), checksum=6)
    found = compare(merge({"a": image(other), "b": image(), "c": image()}), [IMAGE])
    assert [(each.node, each.offset) for each in found if isinstance(each, RecoverReplica)] == [
        ("a", 0),
        ("a", 0),
    ]


def test_what_never_became_whole_goes_when_a_newer_image_is_there() -> None:
    older = part(partition_file(OLDER, 0))
    found = compare(merge({"a": [*image(), older], "b": image()}), [IMAGE])
    assert found == [RemoveReplica("a", older.name, "a newer image is whole on a majority")]
    assert compare(merge({"a": [*image(), *image(name=OLDER)], "b": image()}), [IMAGE]) == []


def test_only_a_whole_image_has_holders() -> None:
    volume = merge({"a": image(), "b": image(part(partition_file(IMAGE, 0), valid=9)), "c": image()[:2]})
    assert volume.images() == {IMAGE: ["a"]}


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ([part("../../etc/passwd")], "no file of a pool"),
        ([part(f"{IMAGE}.p77")], "no file of a pool"),
        ([StoredFile("epoch", 1, 1, 0, 0, 0, 0, 0)], "no file of a pool"),
        ([journal(5), journal(5)], "twice"),
        ([part(partition_file(IMAGE, 0), size=DISK + 1)], "on a disk of"),
        ([part(partition_file(IMAGE, 0), size=-1)], "on a disk of"),
        (
            [part(partition_file(IMAGE, 0), size=1 << 35), part(partition_file(IMAGE, 1), size=DISK - 5)],
            "on a disk of",
        ),
        ([part(manifest_file(IMAGE), size=1 << 20)], "on a disk of"),
        ([part(partition_file(IMAGE, 0), valid=1001)], "valid bytes"),
        ([journal(5, first_sn=9)], "reaches from"),
        ([journal(1)] * 5000, "are the most"),
    ],
)
def test_a_report_that_cannot_be_true_is_refused_in_one_line(files: list[StoredFile], why: str) -> None:
    with pytest.raises(BadReport, match=why) as caught:
        check_report(files, DISK)
    assert "\n" not in str(caught.value)


def test_a_true_report_is_taken() -> None:
    check_report([journal(0), *image(), *image(name=OLDER)], DISK)
    assert all(a < b for a, b in pairwise([OLDER, IMAGE]))
