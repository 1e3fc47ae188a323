"""Frames and greetings under hostile input."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.mechanisms import MESSAGES
from nodes.metadata.operations import Mkdir
from nodes.trace.present import UNKNOWN, cause_of, causes_of, reported, runs_of
from nodes.wire import framing
from nodes.wire.codec import BadFrame, Codec
from nodes.wire.framing import Challenge, Frames, FrameTooLong, Hello, UnknownPeer
from nodes.wire.messages import Checked, Request

TOKEN, NONCE = b"t" * 64, b"n" * 16


@given(st.lists(st.binary(max_size=60)), st.lists(st.integers(1, 9), min_size=1))
def test_frames_come_out_whole_however_they_are_cut(payloads: list[bytes], steps: list[int]) -> None:
    stream, frames, found = b"".join(map(framing.frame, payloads)), Frames(), []
    place = index = 0
    while place < len(stream):
        step = steps[index % len(steps)]
        found += list(frames.feed(stream[place : place + step]))
        place, index = place + step, index + 1
    assert found == payloads


def test_a_frame_that_announces_too_much_is_refused_at_once() -> None:
    with pytest.raises(FrameTooLong, match="4096 is the most"):
        list(Frames().feed((4097).to_bytes(4, "little")))


def hello(**changes: object) -> Hello:
    good = Hello(
        framing.MAGIC, framing.VERSION, "clover", "mds1", NONCE, framing.proof(TOKEN, NONCE, "clover", "mds1")
    )
    return msgspec.structs.replace(good, **changes)


def test_a_good_hello_is_accepted() -> None:
    framing.check_hello(hello(), TOKEN, NONCE, "clover")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"magic": "http"}, "speaks"),
        ({"version": 1}, "version 1, this side version 3"),
        ({"cluster": "other"}, "belongs to the cluster 'other'"),
        ({"name": "mds2"}, "does not prove"),
        ({"proof": b""}, "does not prove"),
    ],
)
def test_unknown_peers_are_reported_apart(changes: dict[str, object], words: str) -> None:
    with pytest.raises(UnknownPeer, match=words):
        framing.check_hello(hello(**changes), TOKEN, NONCE, "clover")


@given(st.binary(max_size=200))
def test_any_bytes_for_a_greeting_are_a_unknown_peer_or_a_greeting(data: bytes) -> None:
    try:
        framing.greeting(data, Challenge)
    except UnknownPeer as unknown_peer:
        assert "\n" not in str(unknown_peer)


@given(st.binary(max_size=400))
def test_any_bytes_for_messages_are_messages_or_a_bad_frame(data: bytes) -> None:
    try:
        Codec(MESSAGES).decode(data)
    except BadFrame as bad:
        assert "\n" not in str(bad)


def test_messages_survive_the_wire() -> None:
    codec = Codec(MESSAGES)
    sent = [Request("ada", 7, 3, Mkdir("/é", True)), Checked(1, 2, "absent")]
    assert codec.decode(codec.encode(sent)) == sent


REQUESTS = [Request("ada", 7, 3, Mkdir("/a")), Checked(1, 2, "absent")]


def test_what_led_to_messages_travels_beside_them_and_costs_nothing_when_none_is_known() -> None:
    codec = Codec(MESSAGES)
    sent = REQUESTS + REQUESTS
    one, other = ("mds1", 17), ("mds2", 3)
    causes = [one, one, UNKNOWN, other]
    runs = runs_of(causes)
    assert runs == [("mds1", 17, 2), ("", 0, 1), ("mds2", 3, 1)]
    assert codec.framed(codec.frame(sent, runs)) == (sent, runs)
    assert list(causes_of(runs)) == causes
    bare = codec.frame(REQUESTS, runs_of([UNKNOWN, UNKNOWN]))
    messages, none = codec.framed(bare)
    assert (messages, none) == (REQUESTS, []) and next(causes_of(none)) == UNKNOWN
    assert len(bare) == len(codec.encode(REQUESTS)) + 2


@pytest.mark.parametrize(
    "causes",
    [
        [["mds1", 1, 1]],
        [["mds1", 1, 3]],
        [["mds1", 1, 1]] * 3,
        [["mds1", 1, 3], ["mds2", 1, -1]],
        [["mds1", 1, 2], ["mds2", 1, 0]],
        [["m" * 81, 1, 2]],
        [["mds1", -1, 2]],
        [["mds1", (1 << 53) + 1, 2]],
        [["mds1", 1.5, 2]],
        [[7, 7, 2]],
        [["mds1", 1], ["", 0]],
        7,
        None,
    ],
)
def test_causes_that_nobody_sends_are_a_bad_frame(causes: object) -> None:
    codec = Codec(MESSAGES)
    with pytest.raises(BadFrame):
        codec.framed(msgspec.msgpack.encode([REQUESTS, causes]))


@given(st.binary(max_size=400))
def test_any_bytes_for_a_frame_are_messages_with_causes_or_a_bad_frame(data: bytes) -> None:
    try:
        Codec(MESSAGES).framed(data)
    except BadFrame as bad:
        assert "\n" not in str(bad)


def test_a_request_belongs_to_the_call_that_it_names_whatever_it_was_sent_with() -> None:
    sent_with = ("mds1", 17)
    assert cause_of(REQUESTS[0], sent_with) == ("ada", 7)
    assert cause_of(REQUESTS[1], sent_with) == sent_with
    assert reported(("ada", 7)) == ("ada", 7)
    for cause in (("a" * 81, 7), ("ada", 0), ("ada", -1), ("ada", 1 << 60)):
        assert reported(cause) == UNKNOWN


def test_unknown_messages_and_deep_nesting_are_bad_frames() -> None:
    codec = Codec(MESSAGES)
    for data in (
        msgspec.msgpack.encode([["Explode", 1]]),
        msgspec.msgpack.encode({"a": 1}),
        b"\x91" * 100_000,
        msgspec.msgpack.encode([["Request", "ada", "seven", 3, ["Mkdir", "/a"]]]),
    ):
        with pytest.raises(BadFrame):
            codec.decode(data)
