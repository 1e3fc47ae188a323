"""Partitions on demand: an image returns the same as its namespace for every path, and only the partitions that the path needs are loaded."""

from __future__ import annotations

from itertools import count
from random import Random

import pytest

from nodes.metadata.images import ImageDamaged
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Create, Link, Mkdir, OpenSession
from nodes.metadata.partitions import partition_of
from nodes.metadata.tree_reader import attributes
from nodes.slots import SeenInImage
from nodes.units import ROOT, OpId, home_group
from nodes.wire.messages import Mark
from tests.simulation.recovery.lab import Checkpoints
from tests.simulation.vssp.lab import PoolLab
from tests.unit.metadata.test_images import grown

PARTITIONS = 8


def shelved(namespace: Namespace, *sns: int) -> PoolLab:
    lab = PoolLab(31, nodes=2, partitions=PARTITIONS)
    lab.namespace = namespace
    for sn in sns or (100,):
        lab.written("n1", Mark(0, 1, sn, 0))
    return lab


def look(lab: PoolLab, path: str, sn: int = 0, node: str = "n2") -> SeenInImage:
    seen = lab.run(node, lab.pools[node].look(ROOT, [name for name in path.split("/") if name], sn))
    assert isinstance(seen, SeenInImage)
    return seen


def paths(namespace: Namespace) -> dict[str, int]:
    """Every path, and its inode."""
    found, waiting = {"/": ROOT}, [("", ROOT)]
    while waiting:
        path, number = waiting.pop()
        for name, child in (namespace.tree.inodes[number].entries or {}).items():
            found[f"{path}/{name}"] = child
            if namespace.tree.inodes[child].entries is not None:
                waiting.append((f"{path}/{name}", child))
    return found


def test_an_image_says_of_every_path_what_its_namespace_does() -> None:
    namespace = grown(Random(5), 400)
    lab = shelved(namespace)
    known = paths(namespace)
    assert len(known) > 100
    for path, number in known.items():
        inode, seen = namespace.tree.inodes[number], look(lab, path)
        assert seen.found == attributes(inode) and seen.names == sorted(inode.entries or {})[:100], path
        assert not seen.left and not seen.elsewhere


def test_only_the_partitions_on_the_way_are_loaded() -> None:
    namespace = grown(Random(6), 400)
    lab = shelved(namespace)
    numbers = paths(namespace)
    for path, number in numbers.items():
        directories = [numbers[path[:place] or "/"] for place, sign in enumerate(path) if sign == "/"]
        if namespace.tree.inodes[number].entries is not None:
            directories.append(number)
        seen = look(lab, path)
        assert seen.loaded == sorted({partition_of(each, PARTITIONS) for each in directories}), path
        assert seen.partitions == PARTITIONS
        assert (seen.size < seen.of_bytes) == (len(seen.loaded) < PARTITIONS)


def test_what_is_not_there_is_not_found() -> None:
    namespace = grown(Random(7), 100)
    lab = shelved(namespace)
    file = next(
        path for path, number in paths(namespace).items() if not namespace.tree.inodes[number].nlink > 1
    )
    for path in ("/no-such-name", "/no/such/name", f"{file}/below"):
        seen = look(lab, path)
        assert seen.found is None and seen.names == [] and seen.left and not seen.elsewhere


def test_a_file_of_several_names_is_found_under_each() -> None:
    """It is once in the image, with one of its directories."""
    namespace = Namespace()
    steps = [OpenSession(), *(Mkdir(f"/d{number}") for number in range(12)), Create("/d0/f")]
    steps += [Link("/d0/f", f"/d{number}/g") for number in range(1, 12)]
    for number, operation in enumerate(steps, 1):
        namespace.apply(namespace.plan(operation, OpId("ada", number), number, number))
    lab = shelved(namespace)
    for number in range(1, 12):
        found = look(lab, f"/d{number}/g").found
        assert found is not None and found.nlink == 12


def test_an_older_image_is_looked_into_by_its_number() -> None:
    namespace = Namespace()
    namespace.apply(namespace.plan(OpenSession(), OpId("ada", 1), 1, 1))
    lab = shelved(namespace, 100)
    namespace.apply(namespace.plan(Mkdir("/later"), OpId("ada", 2), 2, 2))
    lab.written("n1", Mark(0, 1, 110, 0))
    assert look(lab, "/later").found is not None and look(lab, "/later").sn == 110
    assert look(lab, "/later", 100).found is None
    with pytest.raises(FileNotFoundError, match="no image at sn 105 lies here; there are 100, 110"):
        look(lab, "/later", 105)


def test_a_damaged_partition_is_reported_by_who_needs_it_and_by_nobody_else() -> None:
    namespace = grown(Random(8), 300)
    lab = shelved(namespace)
    broken = partition_of(ROOT, PARTITIONS)
    [data] = [data for path, data in lab.files("n2").items() if path.endswith(f".p{broken:02}")]
    data[len(data) // 2] ^= 1
    with pytest.raises(ImageDamaged):
        look(lab, "/")
    assert look(lab, "/", node="n1").found is not None
    directory = next(
        number
        for number, inode in namespace.tree.inodes.items()
        if inode.entries and partition_of(number, PARTITIONS) != broken
    )
    seen = lab.run("n2", lab.pools["n2"].look(directory, [], 0))
    assert seen.found == attributes(namespace.tree.inodes[directory])


def test_an_image_stays_while_it_is_looked_into() -> None:
    lab = PoolLab(33, nodes=2, partitions=1, files=20_000)
    pool = lab.pools["n2"]
    pool.pinned.add(100)
    for sn in (100, 110, 120):
        lab.written("n1", Mark(0, 1, sn, 0))
    pool.pinned.clear()
    looking = lab.spawn("n2", pool.look(ROOT, [], 100))
    turns = count()
    lab.until(lambda: next(turns) == 3)
    assert lab.run("n2", pool.read([], lambda: None)) is None, (
        "nothing is read, and the local_images is tidied"
    )
    lab.until(looking.done)
    assert looking.result().sn == 100 and pool.stored() == [100, 110, 120]
    lab.run("n2", pool.read([], lambda: None))
    lab.run("n1", lab.pools["n1"].survey(lab.names))
    assert pool.stored() == [110, 120]


def test_a_server_says_where_the_path_goes_on_in_another_group() -> None:
    lab = Checkpoints(32, 2, 1, placement="random", image_every=1)
    lab.fill("a", 6)
    lab.run_ms(6_000)
    elsewhere = []
    for number in range(6):
        path = f"/a/d{number}/f"
        seen = lab.ask({"do": "look_in_image", "path": path})
        while seen["elsewhere"]:
            elsewhere.append(path)
            group = home_group(seen["elsewhere"])
            question = {"start": seen["elsewhere"], "path": "/" + "/".join(seen["left"])}
            seen = lab.ask({"do": "look_in_image", **question}, lab.active(group))
        assert seen["found"]["kind"] == "file", path
    assert elsewhere
    assert lab.refusal({"do": "look_in_image", "path": "a"}).startswith("EINVAL")
    assert lab.refusal({"do": "look_in_image", "path": "/a", "sn": 10**9}).startswith("no image at sn")
    lab.finish()
