"""The digest follows its specification in every process: fixed vectors, and the same number with other hash seeds."""

from __future__ import annotations

import os
import subprocess
import sys

import msgspec
import pytest
from xxhash import xxh3_64_intdigest

from nodes.metadata import operations as ops
from nodes.metadata.digest import MASK, mtime_factor, term
from nodes.metadata.images import FORMAT, HEAD, MAGIC, UnknownImageFormat, dump, load
from nodes.metadata.namespace import Namespace
from nodes.metadata.sessions import ClientSession
from nodes.units import ROOT, OpId

VECTORS = {
    (1, 281474976710658, 420, 5, 5, "clover", "clover", 3, 0, 1): 0xC38DB9107E5678A5,
    (2, ROOT, 493, 0, "clover", "clover", 0, 0, 1): 0x11516B6E01367AD4,
    (3, ROOT): 0xA8FF99DF7804ABDC,
    (4, 1, "d\u00e9", 281474976710658): 0x64CBDE0E77D865A0,
    (5,): 0x17F924A139A0FDF2,
    (7, 9): 0x365F4144C0501786,
    (8, "ada"): 0xAFAB0FED97AD9637,
    (10, 9, 1 << 20, None): 0xEE71F32F77912AE1,
    (10, 9, 1 << 20, ("ada", 3)): 0xDB40429506C3BDFA,
    (13,): 0xD377A5C6B1150437,
    (14, "ada"): 0x5EE98D954E245A7A,
}
EMPTY = 0x11516B6E01367AD4
GROWN = 0xBA528D85FA2DC9AF


def grown() -> Namespace:
    namespace = Namespace()
    operations = [
        ops.OpenSession(), ops.Mkdir("/d"), ops.Create("/d/f"), ops.Link("/d/f", "/g"), ops.SetPermission("/d", 0o700),
        ops.Append("/g", 1 << 20), ops.Rename("/d", "/e"), ops.Delete("/e/f"),
    ]  # fmt: skip
    for number, operation in enumerate(operations, 1):
        namespace.apply(namespace.plan(operation, OpId("ada", number), max(1, number - 3), number * 10))
    return namespace


def code() -> str:
    return (
        "from tests.unit.metadata.test_digest import grown; print(grown().digest, grown().recompute_digest())"
    )


@pytest.mark.parametrize("entry", VECTORS)
def test_terms_are_the_specified_ones(entry: tuple[object, ...]) -> None:
    assert term(entry) == VECTORS[entry]


def test_a_term_is_xxh3_of_the_entry() -> None:
    assert xxh3_64_intdigest(b"") == 0x2D06800538D394C2
    data = bytes.fromhex("94 04 01 a3 64 c3 a9 cf 00 01 00 00 00 00 00 02")
    assert msgspec.msgpack.encode((4, 1, "d\u00e9", 281474976710658)) == data
    entry = (4, 1, "d\u00e9", 281474976710658)
    assert term(entry) == xxh3_64_intdigest(data)


def test_an_empty_namespace_is_its_root() -> None:
    root = VECTORS[(2, ROOT, 493, 0, "clover", "clover", 0, 0, 1)]
    assert Namespace().digest == root & MASK == EMPTY


def test_the_mtime_of_a_directory_is_multiplied() -> None:
    namespace = grown()
    before = namespace.digest
    root = namespace.tree.inodes[ROOT]
    change = root.touch(root.mtime_ns + 7)
    assert change == 7 * mtime_factor(ROOT) == 7 * VECTORS[(3, ROOT)]
    assert namespace.recompute_digest() == (before + change) & MASK


def test_a_namespace_has_the_same_digest_whatever_the_hash_seed() -> None:
    for seed in ("0", "1", "4711"):
        reported = subprocess.run(
            [sys.executable, "-c", code()],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
        )
        assert reported.stdout.split() == [str(GROWN)] * 2, reported.stderr


def test_sessions_weigh_their_lowest_open_call() -> None:
    session = ClientSession("ada")
    session.lowest_open = 4
    assert session.term == VECTORS[(8, "ada")] * 7


def test_sessions_weigh_when_each_was_used_last() -> None:
    session = ClientSession("ada")
    session.used_ns = 11
    assert session.term == VECTORS[(8, "ada")] * 3 + VECTORS[(14, "ada")] * 11


def test_an_image_of_the_format_before_is_refused_with_both_numbers() -> None:
    chunks = list(dump(grown()))
    assert load(chunks).digest == GROWN and FORMAT == 6
    chunks[0] = HEAD.pack(MAGIC, 5) + chunks[0][HEAD.size :]
    with pytest.raises(UnknownImageFormat, match="has format 5; this version reads format 6"):
        load(chunks)
