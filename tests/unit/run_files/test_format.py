"""The file of a run: what is written is read again, in any pieces, and no damage is taken for a run."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Sequence
from typing import Any, get_args

import msgspec
import pytest
from crc32c import crc32c

from backend.events.failovers import Failover
from backend.picture import FaultState, Picture, ServerState
from backend.run_files import reader as reader_module
from backend.run_files.reader import RunFileReader
from backend.run_files.records import (
    FORMAT,
    LINE_BYTES,
    BucketLine,
    End,
    EventLine,
    FailoverLine,
    Line,
    PictureLine,
    RunFileDamaged,
    RunHeader,
    encoded,
)
from backend.run_files.run_check import FAULTS, NAMES
from backend.run_files.writer import RunFileWriter
from nodes.config import one_group
from nodes.trace import events as e
from tests.unit.backend.story import Story, durable
from tests.unit.trace.test_story import fields

TIME = "2026-01-02T03:04:05.678+00:00"
HEADER = RunHeader("1.0", TIME, TIME, TIME, 3, 7, 11, 1_000, one_group())
PICTURE = Picture(
    at_ns=9,
    seq=10,
    servers={"mds1": ServerState("mds1", "g1")},
    faults={4: FaultState(4, "pause", [], {}, 1)},
)
FAILOVER = Failover("g1", 5, 1.5, 2, 3, None, 6.5, "mds1", "mds2", 2, "session")
LINES: list[Line] = [
    PictureLine(PICTURE),
    FailoverLine(5, FAILOVER),
    BucketLine(100, 200, 3, 1, {0: 1, 90: 3}),
    *(EventLine(10 + n, Story()(n, "mds1", durable(n))) for n in range(1, 40)),
]


def written(lines: Sequence[Line], header: RunHeader = HEADER) -> bytes:
    writer = RunFileWriter()
    return writer.part([header]) + writer.part(lines) + writer.end()


def read(data: bytes, size: int = 1 << 16) -> list[Any]:
    reader = RunFileReader()
    found = [line for at in range(0, len(data), size) for line in reader.lines(data[at : at + size])]
    reader.finish()
    return found


def signed(text: bytes) -> bytes:
    """A file of these lines whose last line is right."""
    return gzip.compress(text + encoded([End(text.count(b"\n"), crc32c(text))]))


def refusal(data: bytes) -> str:
    with pytest.raises(RunFileDamaged) as refused:
        read(data)
    assert str(refused.value).isprintable() and len(str(refused.value)) < 400
    return str(refused.value)


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_what_is_written_is_read_in_any_pieces(size: int) -> None:
    assert read(written(LINES), size) == [HEADER, *LINES]


def test_pieces_of_output_that_fill_their_bound_are_read_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "PIECE_BYTES", 64)
    assert read(written(LINES)) == [HEADER, *LINES]


@pytest.mark.parametrize("kind", get_args(e.AnyEvent), ids=lambda kind: kind.__name__)
def test_every_event_survives(kind: Any) -> None:
    event = kind(*fields(kind))
    line = EventLine(11, e.Stamped("mds1", 1, 1, 5, 0, event))
    assert msgspec.json.decode(encoded([line]), type=EventLine).stamped == msgspec.msgpack.decode(
        msgspec.msgpack.encode(line.stamped), type=e.Stamped
    )


def test_a_file_that_is_cut_anywhere_is_refused() -> None:
    whole = written(LINES)
    for length in range(len(whole)):
        assert (
            "it is cut off behind line" in (line := refusal(whole[:length])) or line == reader_module.NO_RUN
        )


def test_changed_bytes_are_refused() -> None:
    """Only a bit that fills up the last byte of a compressed part changes nothing."""
    whole, draw, unchanged = written(LINES), random.Random(5), 0
    for _ in range(300):
        place = draw.randrange(10, len(whole))
        changed = whole[:place] + bytes([whole[place] ^ 1 << draw.randrange(8)]) + whole[place + 1 :]
        if gzip_content(changed) == gzip_content(whole):
            unchanged += 1
            assert read(changed) == [HEADER, *LINES]
        else:
            refusal(changed)
    assert unchanged <= 3


def gzip_content(data: bytes) -> bytes | None:
    """The bytes that any reader of gzip finds; None when it refuses the file."""
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        return None


def test_what_follows_the_end_is_refused() -> None:
    assert refusal(written(LINES) + b"x") == "the run has ended, and more follows"
    assert "the run has ended, and more follows" in refusal(written(LINES) + written(LINES))
    text = encoded([HEADER])
    text += encoded([End(1, crc32c(text))])
    assert refusal(gzip.compress(text * 2)) == "line 2: the run has ended, and more follows"


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"PK\3\4" * 50, gzip.compress(b"hello\n"), gzip.compress(bytes(1 << 24))],
    ids=["empty", "json", "zip", "gzip of text", "gzip of zeros"],
)
def test_another_file_is_no_run(data: bytes) -> None:
    assert refusal(data) == reader_module.NO_RUN


def test_another_format_is_named() -> None:
    later = msgspec.json.encode({"cloverrun": FORMAT + 1, "all": "else"}) + b"\n"
    assert refusal(signed(later)) == (
        f"it has format {FORMAT + 1}; this version reads format {FORMAT}: open it with the version that wrote it"
    )


def test_lines_that_are_missing_are_noticed_by_the_last_one() -> None:
    text = encoded([HEADER, LINES[0]])
    assert "not those that were written" in refusal(gzip.compress(text + encoded([End(3, crc32c(text))])))
    assert "not those that were written" in refusal(gzip.compress(text + encoded([End(2, 1)])))


def test_a_gzip_bomb_is_refused_at_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = encoded([HEADER]) + b'["event",11,"' + b"x" * (40 * LINE_BYTES)
    assert refusal(gzip.compress(bomb)) == f"line 2: it has more than {LINE_BYTES} bytes, the most"
    monkeypatch.setattr(reader_module, "UNPACKED_BYTES", 1 << 20)
    assert "more than 0 GiB unpacked" in refusal(gzip.compress(bomb))
    monkeypatch.undo()
    monkeypatch.setattr(reader_module, "LINES", 20)
    assert refusal(written(LINES)) == "it has more than 20 lines, the most"


def event(seq: int, event: Any, at_ns: int = 5) -> EventLine:
    return EventLine(seq, e.Stamped("mds1", 1, 1, at_ns, 0, event))


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([LINES[3], LINES[3]], "line 3: 'event' is not in the order of its number"),
        ([LINES[3], LINES[0]], "line 3: 'picture' comes behind 'event'"),
        ([event(10, durable(1))], "line 2: number 10 is not of this run, which has 11 to 1000"),
        ([event(1_001, durable(1))], "line 2: number 1001 is not of this run"),
        ([PictureLine(Picture(seq=1))], "line 2: number 1 is not of this run"),
        ([PictureLine(Picture(at_ns=-1, seq=10))], "line 2: at_ns of a picture"),
        (
            [PictureLine(Picture(seq=10, servers={"m": ServerState("m", "g1", role="king")}))],
            "line 2: a picture cannot be shown: servers.m.role: Input should be 'active', 'standby'",
        ),
        ([event(11, e.Placed("g1", "m", "king", 1, 1))], "line 2: the role 'king' is unknown; there are active, standby"),
        ([event(11, durable(1), at_ns=-1)], "line 2: a number of an event is not between 0 and 2^62"),
        ([event(11, durable(1), at_ns=1 << 80)], "line 2: a number of an event is not between 0 and 2^62"),
        ([event(11, durable(-1))], "line 2: a number of an event is not between 0 and 2^62"),
        ([event(11, e.FaultInjected(1, "add_server", [], {}))], "line 2: the event FaultInjected lacks what the page"),
        ([BucketLine(1, 2, 3, 4, {5_000: 1})], "line 2: Expected `int` <= 1000"),
        ([BucketLine(1, 2, 1 << 60, 4, {})], "line 2: Expected `int` <= 1099511627776"),
        ([FailoverLine(-1, FAILOVER)], "line 2: Expected `int` >= 0"),
        (
            [event(11 + n, e.FaultInjected(n, "slow_disk", ["mds1"], {})) for n in range(FAULTS + 2)],
            f"more than {FAULTS} faults are in force",
        ),
        (
            [EventLine(11 + n, e.Stamped(f"m{n}", 1, 1, 5, 0, durable(1))) for n in range(NAMES + 1)],
            f"there are more than {NAMES} servers",
        ),
    ],
)  # fmt: skip
def test_lines_that_make_up_no_run_are_refused(lines: list[Line], says: str) -> None:
    first: list[Line] = [PictureLine(PICTURE)] if "faults are" in says else []
    with_room = msgspec.structs.replace(HEADER, last_seq=5_000) if "more than" in says else HEADER
    assert says in refusal(written([*first, *lines], with_room))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'["event",11,["mds1",1,1,5,0,["Exploded",1],""]]', "an event of kind 'Exploded', which this version does not have"),
        (b'["event",11,["mds1",1,1,5,0,[["a"],1],""]]', "line 2: "),
        (b'["event",11]', "line 2: "),
        (b'["rumour",11]', "line 2: Invalid value 'rumour'"),
        (b"[" * 100_000, "line 2: "),
        (b"not json", "line 2: JSON is malformed"),
        (b'["calls",1,2,3,4,{},"more"]', "line 2: "),
        (b"\xff\xfe", "line 2: "),
        (b'["\\u001b[2J' + b"x" * 9_000 + b'"]', "line 2: Invalid value '?[2Jxxx"),
    ],
)  # fmt: skip
def test_a_line_that_is_none_is_refused_where_it_is(line: bytes, says: str) -> None:
    assert says in refusal(signed(encoded([HEADER]) + line + b"\n"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"started_at": "yesterday"}, "line 1: Invalid isoformat string: 'yesterday'"),
        ({"last_seq": 3}, "last_seq 3 is before first_seq 11"),
        ({"started_ns": -1}, "line 1: Expected `int` >= 0 - at `$.started_ns`"),
        ({"run": "three"}, "line 1: Expected `int`, got `str` - at `$.run`"),
        ({"version": "v" * 300}, "line 1: Expected `str` of length <= 200"),
        ({"cluster": 3}, "line 1: Expected `object`, got `int` - at `$.cluster`"),
    ],
)
def test_a_header_that_is_wrong_is_refused(change: dict[str, Any], says: str) -> None:
    header = msgspec.to_builtins(HEADER, str_keys=True) | change
    assert says in refusal(signed(msgspec.json.encode(header) + b"\n"))


def test_a_cluster_that_this_version_does_not_know_is_named() -> None:
    header = msgspec.to_builtins(HEADER)
    header["cluster"]["cluster"] = "\x1b[2J"
    assert "line 1: Expected `str` matching regex '^[a-z][a-z0-9-]{0,31}$'" in refusal(
        signed(msgspec.json.encode(header) + b"\n")
    )
    header["cluster"] |= {"cluster": "clover", "protocol": "raft"}
    assert "the protocol 'raft' is unknown" in refusal(signed(msgspec.json.encode(header) + b"\n"))
