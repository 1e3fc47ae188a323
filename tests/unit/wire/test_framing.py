"""Frames and greetings under hostile input."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.mechanisms import MESSAGES
from nodes.metadata.operations import Mkdir
from nodes.trace.present import UNKNOWN, cause_of, causes_of, reported, runs_of
from nodes.wire import framing
from nodes.wire.codec import BadFrame, Codec
from nodes.wire.framing import DIALLER, Challenge, Ends, Frames, FrameTooLong, Hello, UnknownPeer
from nodes.wire.keys import Keys, Realm, Seal, WeakToken, WrongTag, keys_of, supervisor_key
from nodes.wire.messages import Checked, Request

NONCE = b"n" * 16


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


PEER, CLIENT = b"p" * 32, b"c" * 32
KEYS = {Realm.PEER: PEER, Realm.CLIENT: CLIENT}
ENDS = Ends("clover", Realm.PEER, "mds1", "mds2", NONCE, b"d" * 16)


def hello(key: bytes = PEER, side: str = DIALLER, ends: Ends = ENDS, **changes: object) -> Hello:
    """The hello of mds1 to mds2, unless changed; the proof is for `ends`."""
    good = Hello(
        framing.MAGIC, framing.VERSION, "clover", Realm.PEER, "mds1", "mds2", b"d" * 16, framing.proof(key, side, ends)
    )  # fmt: skip
    return msgspec.structs.replace(good, **changes)


def check(said: Hello, nonce: bytes = NONCE) -> Ends:
    return framing.check_hello(said, KEYS, "clover", "mds2", nonce)


def test_a_good_hello_is_accepted() -> None:
    assert check(hello()) == ENDS
    as_client = msgspec.structs.replace(ENDS, realm=Realm.CLIENT)
    assert check(hello(CLIENT, ends=as_client, realm=Realm.CLIENT)) == as_client


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"magic": "http"}, "speaks"),
        ({"version": 3}, "version 3, this side version 8"),
        ({"cluster": "other"}, "belongs to the cluster 'other'"),
        ({"dialler": "mds3"}, "does not prove"),
        ({"dialler": "mds2"}, "cannot be a peer's name"),
        ({"dialler": "x\0mds1"}, "cannot be a peer's name"),
        ({"listener": "mds3"}, "looks for 'mds3'"),
        ({"realm": "client"}, "does not prove"),
        ({"realm": "supervisor"}, "is not served here"),
        ({"nonce": b"e" * 16}, "does not prove"),
        ({"nonce": b"d" * 15}, "a nonce of 15 bytes"),
        ({"proof": b""}, "does not prove"),
        ({"key": CLIENT}, "does not prove"),
        ({"key": b""}, "does not prove"),
        ({"side": "listener"}, "does not prove"),
    ],
)
def test_unknown_peers_are_reported_apart(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UnknownPeer, match=words):
        check(hello(**changes))


def test_a_hello_is_good_for_one_challenge_only() -> None:
    with pytest.raises(UnknownPeer, match="does not prove"):
        check(hello(), nonce=b"m" * 16)


def test_a_relayed_hello_opens_no_other_server() -> None:
    """Somebody who holds the port of mds3 passes the challenge of mds2 on, and what mds1 answers back."""
    to_mds3 = msgspec.structs.replace(ENDS, listener="mds3")
    for name in ("mds3", "mds2"):
        with pytest.raises(UnknownPeer):
            check(hello(ends=to_mds3, listener=name))


def test_only_the_control_plane_dials_a_supervisor() -> None:
    keys = {Realm.SUPERVISOR: b"s" * 32}
    for name, welcome in (("control", True), ("mds1", False)):
        ends = Ends("supervisors", Realm.SUPERVISOR, name, "mds2", NONCE, b"d" * 16)
        said = hello(b"s" * 32, ends=ends, cluster="supervisors", realm=Realm.SUPERVISOR, dialler=name)
        if welcome:
            assert framing.check_hello(said, keys, "supervisors", "mds2", NONCE) == ends
        else:
            with pytest.raises(UnknownPeer, match="only control may"):
                framing.check_hello(said, keys, "supervisors", "mds2", NONCE)


def test_a_frame_that_is_changed_repeated_or_left_out_is_refused() -> None:
    def ends() -> tuple[Seal, Seal]:
        return framing.seal(PEER, DIALLER, ENDS), framing.seal(PEER, DIALLER, ENDS)

    sent, received = ends()
    first, second = (sent.sealed(payload)[4:] for payload in (b"one", b"two"))
    assert (received.opened(first), received.opened(second)) == (b"one", b"two")
    for frames in ([second], [first, first], [first[:-1] + b"x"], [first[1:]], [b""]):
        received = ends()[1]
        with pytest.raises(WrongTag):
            for each in frames:
                received.opened(each)
    with pytest.raises(WrongTag):
        framing.seal(PEER, "listener", ENDS).opened(first)


def test_keys_come_from_a_whole_token_and_are_apart() -> None:
    token = b"t" * 32
    server, client = keys_of(token, serves=True), keys_of(token, serves=False)
    derived = [server.peer, server.client, server.coordination, supervisor_key(token, "mds1"), supervisor_key(token, "mds2"), token]  # fmt: skip
    assert len(set(derived)) == len(derived)
    assert client == Keys(client=server.client)
    for weak in (b"", b"t" * 31):
        with pytest.raises(WeakToken, match="32 are the least"):
            keys_of(weak, serves=True)


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
