"""Packets, manifests, Algorithm 2 and the images that a server keeps."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.format_number import stored
from nodes.metadata.images import ImageDamaged, UnknownImageFormat
from nodes.protocols.vssp.acknowledgement import STRATEGIES, held_by
from nodes.protocols.vssp.manifest import (
    Manifest,
    PartitionEntry,
    decode,
    encode,
    image_name,
    image_of,
    manifest_file,
    partition_file,
    rank_of,
)
from nodes.protocols.vssp.outgoing_image import LAG_BYTES, WINDOW_BYTES, Outgoing
from nodes.protocols.vssp.packets import CHUNK_BYTES, PACKET_BYTES, bad_chunk, sums
from nodes.protocols.vssp.retention import kept_images, kept_sn, with_barriers
from nodes.wire.messages import Mark


@given(st.binary(max_size=3000), st.data())
def test_a_changed_octet_is_found_to_the_chunk(content: bytes, data: st.DataObject) -> None:
    reported = sums(content)
    assert bad_chunk(content, reported) is None and len(reported) == -(-len(content) // CHUNK_BYTES) * 4
    if content:
        at = data.draw(st.integers(0, len(content) - 1))
        bad = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        assert bad_chunk(bad, reported) == at // CHUNK_BYTES * CHUNK_BYTES
        assert bad_chunk(content, reported[:-4]) == (len(reported) - 4) // 4 * CHUNK_BYTES
        assert bad_chunk(content, reported + b"1234") == len(reported) // 4 * CHUNK_BYTES


MARK = Mark(2, 7, 4711, 99)
NAME = image_name(MARK, 0xABC)


def test_a_manifest_comes_back_and_names_sort_like_marks() -> None:
    manifest = Manifest(NAME, MARK, [PartitionEntry(10, 1), PartitionEntry(20, 2)])
    assert decode(encode(manifest), NAME) == manifest and manifest.size == 30
    assert rank_of(NAME) == (2, 7, 4711)
    later = image_name(Mark(2, 8, 3, 0), 0)
    assert later > NAME and image_of(partition_file(NAME, 3)) == (NAME, 3)
    assert image_of(manifest_file(NAME)) == (NAME, None)


@pytest.mark.parametrize(
    "file", ["x", "../epoch", f"{NAME}.p99", f"{NAME}.pxx", f"{NAME}.", f"a/{NAME}.p01", ""]
)
def test_a_name_that_no_image_has_is_none(file: str) -> None:
    assert image_of(file) is None


@settings(max_examples=200)
@given(st.data())
def test_a_damaged_manifest_is_refused_in_one_line(data: st.DataObject) -> None:
    content = encode(Manifest(NAME, MARK, [PartitionEntry(10, 1)]))
    at = data.draw(st.integers(0, len(content) - 1))
    bad = data.draw(
        st.sampled_from(
            [
                content[:at],
                content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :],
                content + b"x",
                b"\0" * at,
            ]
        )
    )
    with pytest.raises(ImageDamaged) as caught:
        decode(bad, NAME)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "manifest",
    [
        Manifest(NAME, MARK, []),
        Manifest(NAME, MARK, [PartitionEntry(0, 0)]),
        Manifest(NAME, MARK, [PartitionEntry(1 << 60, 0)]),
        Manifest(NAME, MARK, [PartitionEntry(5, 0)] * 65),
        Manifest(NAME, Mark(2, 7, 4712, 99), [PartitionEntry(5, 0)]),
        Manifest(image_name(MARK, 1), MARK, [PartitionEntry(5, 0)]),
    ],
)
def test_a_manifest_of_something_else_is_refused(manifest: Manifest) -> None:
    with pytest.raises(ImageDamaged):
        decode(encode(manifest), NAME)


def test_another_format_is_refused_by_both_numbers() -> None:
    data = bytearray(encode(Manifest(NAME, MARK, [PartitionEntry(10, 1)])))
    data[8:10] = stored(9).to_bytes(2, "little")
    with pytest.raises(UnknownImageFormat, match="format 9; this version reads format 1"):
        decode(bytes(data), NAME)


# --- Algorithm 2 -----------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 100), min_size=1, max_size=7), st.integers(1, 7))
def test_held_by_counts_each_replica_once(offsets: list[int], needed: int) -> None:
    held = held_by(offsets, needed)
    assert held == max(
        (each for each in offsets if sum(other >= each for other in offsets) >= needed), default=0
    )


@pytest.mark.parametrize("replicas", range(1, 9))
def test_more_than_half_succeed_and_the_first_half_is_early(replicas: int) -> None:
    vssp, hdfs = STRATEGIES["vssp"], STRATEGIES["hdfs_pipeline"]
    assert 2 * vssp.needed(replicas, replicas) > replicas >= 2 * (vssp.needed(replicas, replicas) - 1)
    early = [place for place in range(replicas) if vssp.early(place, replicas)]
    assert early == list(range(-(-replicas // 2)))
    assert not any(hdfs.early(place, replicas) for place in range(replicas))
    assert hdfs.needed(replicas, replicas) == replicas


def outgoing(strategy: str, nodes: int = 3, size: int = 40 * PACKET_BYTES + 5) -> Outgoing:
    made = Outgoing("x", ["w", *(f"n{i}" for i in range(1, nodes))], 1, STRATEGIES[strategy])
    made.streams[0].produced, made.streams[0].ended = size, True
    return made


def send(made: Outgoing) -> list[int]:
    """Offsets of the packets that may leave now."""
    stream, sent = made.streams[0], []
    while length := made.next_length(stream):
        sent.append(stream.sent)
        stream.sent += length
    return sent


def test_one_of_two_others_is_enough_and_a_second_word_of_it_counts_nothing() -> None:
    """Algorithm 2 lines 11-17: the paper counts an acknowledgement twice, and never starts again from zero."""
    made = outgoing("vssp", nodes=5)
    sent = send(made)
    assert len(sent) * PACKET_BYTES == WINDOW_BYTES
    for _ in range(5):
        made.on_acked(0, PACKET_BYTES, ["n1", "n1"])
        assert made.successful(made.streams[0]) == 0
    made.on_acked(0, PACKET_BYTES, ["n2"])
    assert made.successful(made.streams[0]) == PACKET_BYTES and len(send(made)) == 1


def test_who_is_left_out_counts_as_progress() -> None:
    """Otherwise the last awaited node may be dead, and no node is left to be declared silent."""
    made = Outgoing("x", ["w", "n1", "n2"], 1, STRATEGIES["vssp"])
    made.shelved.add("n1")
    before = made.progress
    made.leave_out("n2")
    assert made.progress != before and made.shelved.issuperset(made.chain)


def test_the_baseline_waits_for_the_tail() -> None:
    made = outgoing("hdfs_pipeline")
    send(made)
    made.on_acked(0, 3 * PACKET_BYTES, ["n1"])
    assert made.successful(made.streams[0]) == 0 and send(made) == []
    made.on_acked(0, 2 * PACKET_BYTES, ["n2", "n1"])
    assert made.successful(made.streams[0]) == 2 * PACKET_BYTES and len(send(made)) == 2


def test_a_slow_tail_holds_the_writer_back_only_by_its_lag() -> None:
    made = outgoing("vssp", size=200 * PACKET_BYTES)
    while send(made):
        made.on_acked(0, made.streams[0].sent, ["n1"])
    assert made.streams[0].sent == LAG_BYTES and not made.replicated
    assert made.silent() == "n2"
    made.leave_out("n2")
    while send(made):
        made.on_acked(0, made.streams[0].sent, ["n1"])
    assert made.replicated and made.round == 2 and made.has_all("n1")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_is_lost_every_packet_gets_there(data: st.DataObject) -> None:
    """A model of a chain that loses packets and acknowledgements: with resending, every image that counts as replicated exists."""
    strategy = data.draw(st.sampled_from(["vssp", "hdfs_pipeline"]))
    made = outgoing(
        strategy, nodes=data.draw(st.integers(2, 5)), size=data.draw(st.integers(1, 12 * PACKET_BYTES))
    )
    stream, have = made.streams[0], dict.fromkeys(made.chain[1:], 0)
    rolls = data.draw(st.lists(st.integers(0, 3), min_size=20, max_size=60))
    for step in range(400):
        if made.replicated:
            break
        roll = rolls[step % len(rolls)] if step < 200 else 3
        while length := made.next_length(stream):
            offset, end = stream.sent, stream.sent + length
            stream.sent = end
            for node in made.chain[1:]:
                if roll == 0 or offset > have[node]:
                    break
                have[node] = max(have[node], end)
            if roll != 1:
                for node in made.chain[1:]:
                    made.on_acked(0, min(have[node], end), [node])
        if roll == 3:
            made.resend()
    assert made.replicated
    there = [stream.produced, *have.values()]
    assert sum(each >= stream.produced for each in there) >= made.needed


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 60))
def test_a_pin_that_cannot_be_reached_holds_no_journal(pin: int, older: int, newer: int) -> None:
    """The server was renewed by an image after the barrier: its journal begins there."""
    images = [image_name(Mark(0, 1, pin + sn, 0), 0) for sn in sorted({older, older + newer})]
    first_sn = pin + older + 1
    assert kept_sn(images, [pin], 2, first_sn) == pin + older
    assert kept_sn(images, [pin], 2, 1) == 0


# --- kept images -----------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 30), max_size=8, unique=True), st.integers(1, 15), st.integers(1, 15))
def test_a_barrier_is_kept_as_long_as_its_rollback_may_be_applied(
    sns: list[int], barrier: int, between: int
) -> None:
    """By a server that begins from one of its two newest images, or that goes back to a pin behind the rollback."""
    images = [image_name(Mark(0, 1, sn, 0), 0) for sn in sorted(sns)]
    rollback = barrier + between
    behind = [sn for sn in sns if sn >= rollback]
    assert with_barriers(images, [], {rollback: barrier}, 2) == (set() if len(behind) > 1 else {barrier})
    pin = rollback + 1
    reached = any(rollback <= sn <= pin for sn in sns)
    assert (barrier in with_barriers(images, [pin], {rollback: barrier}, 2)) == (
        len(behind) < 2 or not reached
    )


@given(st.lists(st.integers(1, 50), max_size=8, unique=True), st.lists(st.integers(0, 60), max_size=3))
def test_every_pin_keeps_its_image_and_its_journal(sns: list[int], pins: list[int]) -> None:
    """Safety rule 14."""
    images = [image_name(Mark(0, 1, sn, 0), 0) for sn in sorted(sns)]
    kept, floor = kept_images(images, pins, 2), kept_sn(images, pins, 2, 1)
    assert set(images[-2:]) <= kept
    for goal in [*pins, *([max(sns)] if sns else [])]:
        below = [sn for sn in sns if sn <= goal]
        begin = max(below, default=0)
        assert floor <= begin
        assert not begin or image_name(Mark(0, 1, begin, 0), 0) in kept
    if len(sns) > 1 and not pins:
        assert floor == sorted(sns)[-2], "one damaged image costs no more than a longer replay"
    if len(sns) < 2:
        assert floor == 0
