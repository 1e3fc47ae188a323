"""Images in partitions: each stream is whole by itself, in any order, and a damaged one is never loaded."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.errors import FsError
from nodes.metadata import operations as ops
from nodes.metadata.images import ImageDamaged, Loader, dump, dump_partitions, load, whole_bytes
from nodes.metadata.inode import Inode
from nodes.metadata.kinds import PATIENCE
from nodes.metadata.namespace import Namespace
from nodes.metadata.partitions import partition_of
from nodes.units import GROUP_SHIFT, ROOT, OpId, is_directory


def grown(rng: Random, count: int) -> Namespace:
    """A namespace after `count` random operations."""
    namespace = Namespace()
    directories, files = ["/"], ["/none"]
    for number in range(1, count + 2):
        parent = rng.choice(directories).rstrip("/")
        path = f"{parent}/{'n' * rng.randint(1, 30)}{number}"
        operation = rng.choice(
            [
                ops.Mkdir(path), ops.Create(path), ops.Create(path), ops.Delete(rng.choice(files)),
                ops.Rename(rng.choice(files), path), ops.SetPermission(rng.choice(directories), number % 512),
            ]
        )  # fmt: skip
        if number == 1:
            operation = ops.OpenSession()
        try:
            record = namespace.plan(operation, OpId("ada", number), max(1, number - 50), number * 1000)
        except FsError:
            continue
        namespace.apply(record)
        if type(operation) is ops.Mkdir:
            directories.append(path)
        elif type(operation) in (ops.Create, ops.Rename):
            files.append(path)
    return namespace


def streams(namespace: Namespace, partitions: int) -> list[bytes]:
    whole = [bytearray() for _ in range(partitions)]
    for partition, data in dump_partitions(namespace, partitions):
        whole[partition] += data
    return [bytes(each) for each in whole]


class Counted(dict[int, Inode]):
    """Inodes that count their lookups."""

    looked = 0

    def get(self, number: int, default: Any = None) -> Any:
        self.looked += 1
        return super().get(number, default)


def test_a_directory_of_many_directories_is_passed_over_in_several_turns() -> None:
    namespace = Namespace()
    namespace.apply(namespace.plan(ops.OpenSession(), OpId("ada", 1), 1, 1))
    for number in range(2, 6 * PATIENCE):
        namespace.apply(namespace.plan(ops.Mkdir(f"/d{number}"), OpId("ada", number), number, number))
    inodes = namespace.tree.inodes = Counted(namespace.tree.inodes)
    before, most = 0, 0
    for _ in dump_partitions(namespace, 8):
        before, most = inodes.looked, max(most, inodes.looked - before)
    assert inodes.looked >= 5 * PATIENCE
    assert most <= PATIENCE


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 9), st.integers(0, 900))
def test_partitions_in_any_order_and_in_any_pieces_make_the_same_namespace(
    seed: int, partitions: int, count: int
) -> None:
    rng = Random(seed)
    namespace = grown(rng, count)
    loader, left = Loader(), list(enumerate(streams(namespace, partitions)))
    while left:
        place = rng.randrange(len(left))
        partition, data = left[place]
        cut = rng.randint(1, 5000)
        loader.feed(partition, data[:cut])
        left[place] = (partition, data[cut:])
        if not left[place][1]:
            del left[place]
    again = loader.finish()
    assert again.digest == namespace.digest == again.recompute_digest()
    assert again.tree.inodes == namespace.tree.inodes and again.tree.next_number == namespace.tree.next_number
    assert dict(again.sessions).keys() == dict(namespace.sessions).keys()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 9))
def test_a_partition_can_be_written_alone(seed: int, partitions: int) -> None:
    namespace = grown(Random(seed), 300)
    whole = streams(namespace, partitions)
    for wanted in range(partitions):
        alone = b"".join(data for _, data in dump_partitions(namespace, partitions, [wanted]))
        assert alone == whole[wanted]
        assert whole_bytes([alone]) == len(alone)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32))
def test_a_directory_lies_in_one_partition_with_its_dentries_and_its_files(seed: int) -> None:
    namespace, partitions = grown(Random(seed), 300), 8
    whole = streams(namespace, partitions)
    for partition in range(partitions):
        loader = Loader()
        loader.feed(partition, whole[partition])
        loaded = loader.namespace.tree.inodes
        for number, inode in namespace.tree.inodes.items():
            if inode.entries is not None and partition_of(number, partitions) == partition:
                assert loaded[number].entries == inode.entries
                files = [child for child in inode.entries.values() if not is_directory(child)]
                assert all(child in loaded for child in files)


def test_a_child_or_a_parent_in_another_group_is_normal() -> None:
    namespace = grown(Random(2), 60)
    tree = namespace.tree
    elsewhere = (7 << GROUP_SHIFT) | 9
    tree.inodes[ROOT].entries["away"] = elsewhere  # type: ignore[index]
    for number in (tree.next_number, (7 << GROUP_SHIFT) | 11):
        tree.inodes[number] = Inode(number, 0o644, 1, 1, "clover", "clover", 3, 0, 1, None)
    tree.digest = tree.recompute_digest()
    loader = Loader()
    for partition, data in enumerate(streams(namespace, 5)):
        loader.feed(partition, data)
    again = loader.finish()
    assert again.tree.inodes == tree.inodes and again.digest == namespace.digest


def test_a_file_with_two_names_lies_in_the_image_once() -> None:
    namespace = grown(Random(3), 60)
    tree = namespace.tree
    file = next(inode for inode in tree.inodes.values() if inode.entries is None)
    directory = next(
        inode for inode in tree.inodes.values() if inode.entries and inode is not tree.inodes[ROOT]
    )
    directory.entries["link"] = file.number  # type: ignore[index]
    tree.digest = tree.recompute_digest()
    loader = Loader()
    for partition, data in enumerate(streams(namespace, 8)):
        loader.feed(partition, data)
    assert loader.finish().tree.inodes == tree.inodes


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 9), st.integers(1, 4))
def test_shares_that_are_made_alone_are_the_image(seed: int, partitions: int, count: int) -> None:
    """Also with files of several names, and with such whose directory is in another group."""
    rng = Random(seed)
    namespace = grown(rng, 300)
    tree, base = namespace.tree, 7 << GROUP_SHIFT
    directories = [inode for inode in tree.inodes.values() if inode.entries]
    for file in [inode for inode in tree.inodes.values() if inode.entries is None][::2]:
        for directory in rng.sample(directories, min(3, len(directories))):
            directory.entries[f"link{file.number}"] = file.number  # type: ignore[index]
    for number in range(40):
        stray = tree.next_number + number if number % 2 else base + number
        tree.inodes[stray] = Inode(stray, 0o644, 1, 1, "clover", "clover", 3, 0, 1, None)
    tree.next_number += 40
    tree.digest = tree.recompute_digest()
    whole, made = streams(namespace, partitions), [b""] * partitions
    for number in range(count):
        for partition, data in dump_partitions(namespace, partitions, range(number, partitions, count)):
            made[partition] += data
    assert made == whole
    loader = Loader()
    for partition, data in enumerate(made):
        loader.feed(partition, data)
    again = loader.finish()
    assert again.tree.inodes == tree.inodes and again.digest == namespace.digest


def test_partitions_of_two_images_do_not_mix() -> None:
    one, other = streams(grown(Random(4), 40), 2), streams(grown(Random(5), 40), 2)
    loader = Loader()
    loader.feed(0, one[0])
    with pytest.raises(ImageDamaged, match="another image"):
        loader.feed(1, other[1])
    loader = Loader()
    with pytest.raises(ImageDamaged, match="says that it is 1 of 2"):
        loader.feed(0, one[1])
    loader = Loader()
    loader.feed(0, one[0])
    with pytest.raises(ImageDamaged, match="partition 1 is not whole"):
        loader.finish()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["flip", "cut", "drop", "twice"]))
def test_a_damaged_stream_is_refused_and_its_good_beginning_is_known(seed: int, damage: str) -> None:
    rng = Random(seed)
    data = b"".join(dump(grown(Random(seed % 7), 120)))
    at = rng.randrange(len(data))
    bad = {
        "flip": data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :],
        "cut": data[:at],
        "drop": data[:at] + data[at + rng.randint(1, 9) :],
        "twice": data + data[at:],
    }[damage]
    with pytest.raises(ImageDamaged):
        load([bad])
    good = whole_bytes([bad])
    assert good <= len(data) and bad[:good] == data[:good]
    if damage != "twice":
        assert good <= at


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_strange_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ImageDamaged):
        load([data])
    with pytest.raises(ImageDamaged):
        load([next(dump(Namespace())), data])
