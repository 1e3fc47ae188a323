"""What `bench explore bugs` keeps of each bug is what the page shows; what was not measured has no score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from backend.errors import Malformed
from backend.explore.campaign import CampaignTally
from backend.explore.executors import WorkersLost
from backend.lab import Lab
from backend.places import bug_scores_file
from backend.searches.scores import BYTES_MAX, SECONDS_MAX, BugScore, keep_score, scores
from backend.version import version
from benchmarks import explore
from benchmarks.explore import BugSearch
from nodes.explore.bugs import Bug
from tests.unit.backend.test_api import one_line, with_api

FOUND = BugScore("mams", "no lost write", 1.5, 7, 60.0, 2, "1.0", 1000.0)
MISSED = msgspec.structs.replace(FOUND, invariant="", took_s=60.2, seeds=400)
FIRST, SECOND = Bug("no_fencing", "mams"), Bug("reads_before_flush", "mams")


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))


def write(content: bytes) -> None:
    bug_scores_file().parent.mkdir(parents=True, exist_ok=True)
    bug_scores_file().write_bytes(content)


def written(**changed: Any) -> bytes:
    """A file with one score, some values of which are replaced."""
    return msgspec.json.encode({"format": 1, "by_bug": {"no_fencing": msgspec.to_builtins(FOUND) | changed}})


def test_without_a_measurement_there_is_no_score() -> None:
    assert scores() == {}


def test_a_score_replaces_that_of_its_bug_alone() -> None:
    keep_score("no_fencing", FOUND)
    keep_score("late_watch", FOUND)
    keep_score("no_fencing", MISSED)
    assert scores() == {"no_fencing": MISSED, "late_watch": FOUND}
    assert [path.name for path in bug_scores_file().parent.iterdir()] == ["bugs.json"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "cannot be read"),
        (b"[]", "cannot be read"),
        (b"\x00", "cannot be read"),
        (b'{"format": 1}', "cannot be read"),
        (b'{"format": 1, "by_bug": {"\xff": 1}}', "cannot be read"),
        (b'{"format": 1, "by_bug": {}, "x": ' + b"[" * 200_000, "cannot be read"),
        (b'{"format": 2, "rows": []}', "has format 2, and not 1"),
        (b" " * (BYTES_MAX + 1), "has more than"),
        (written(took_s=1e300), "cannot be read"),
        (written(took_s=-1), "cannot be read"),
        (written(seeds=10**12), "cannot be read"),
        (written(seeds="7"), "cannot be read"),
        (written(jobs=0), "cannot be read"),
        (written(measured_at_s=1e18), "cannot be read"),
        (written(invariant="x" * 201), "cannot be read"),
        (written(family=""), "cannot be read"),
        (msgspec.json.encode({"format": 1, "by_bug": dict.fromkeys(map(str, range(1_001)), FOUND)}), "cannot"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_reported_in_one_line_and_begins_anew(
    tmp_path: Path, content: bytes, says: str
) -> None:
    write(content)

    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        answer = await client.get("/api/explore/scores")
        assert answer.status_code == 422 and says in one_line(answer)
        assert "run ./cloverlab bench explore bugs again" in one_line(answer)

    with_api(tmp_path, body)
    keep_score("late_watch", FOUND)
    assert scores() == {"late_watch": FOUND}


def test_a_file_that_cannot_be_opened_is_reported_and_stays() -> None:
    bug_scores_file().mkdir(parents=True)
    with pytest.raises(Malformed, match="Is a directory"):
        scores()
    with pytest.raises(IsADirectoryError):
        keep_score("no_fencing", FOUND)


def test_the_api_returns_what_was_measured(tmp_path: Path) -> None:
    async def body(client: httpx.AsyncClient, lab: Lab) -> None:
        assert (await client.get("/api/explore/scores")).json() == {}
        keep_score("no_fencing", FOUND)
        answer = await client.get("/api/explore/scores")
        assert answer.json() == {"no_fencing": msgspec.to_builtins(FOUND)}

    with_api(tmp_path, body)


def search_as(monkeypatch: pytest.MonkeyPatch, results: list[BugSearch | BaseException]) -> None:
    """The benchmark's searches end so, one after the other."""
    left = iter(results)

    def search(bug: Bug, seconds: float) -> BugSearch:
        result = next(left)
        if isinstance(result, BaseException):
            raise result
        return result

    monkeypatch.setattr(explore, "search", search)


def test_the_benchmark_keeps_each_bug_as_soon_as_it_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keep_score("late_watch", FOUND)
    found = BugSearch(FIRST.name, FIRST.family, 5.8, 27, "linearisable")
    search_as(monkeypatch, [found, KeyboardInterrupt()])
    with pytest.raises(KeyboardInterrupt):
        explore.power([FIRST, SECOND], 30.0)
    assert list(scores()) == ["late_watch", "no_fencing"]
    score = scores()["no_fencing"]
    assert (score.family, score.invariant, score.took_s, score.seeds) == ("mams", "linearisable", 5.8, 27)
    assert (score.limit_s, score.jobs, score.version) == (30.0, explore.JOBS, version())
    assert score.measured_at_s > 1_700_000_000
    assert "the page Explore shows it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("tally", "raised"),
    [
        (CampaignTally(seeds=3, incomplete="stopped by Ctrl-C"), KeyboardInterrupt),
        (CampaignTally(seeds=3, incomplete="no worker is left", lost=True), WorkersLost),
    ],
)
def test_a_search_that_broke_off_is_not_taken_for_a_bug_that_was_not_found(
    monkeypatch: pytest.MonkeyPatch, tally: CampaignTally, raised: type[BaseException]
) -> None:
    monkeypatch.setattr(explore.Campaign, "run", lambda campaign: tally)
    with pytest.raises(raised):
        explore.power([FIRST], 30.0)
    assert scores() == {}


def test_a_directory_that_cannot_be_written_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "share").write_text("no directory")
    search_as(monkeypatch, [BugSearch(bug.name, bug.family, 60.0, 400) for bug in (FIRST, SECOND)])
    assert explore.power([FIRST, SECOND], 60.0)["bugs_not_found"] == [FIRST.name, SECOND.name]
    assert capsys.readouterr().err.count("the page does not show it") == 1


@pytest.mark.parametrize("amount", ["0", "-1", "nan", "inf", str(SECONDS_MAX + 1)])
def test_an_absurd_length_is_refused(amount: str) -> None:
    with pytest.raises(Malformed, match="above 0, and at most"):
        explore.main("no_fencing", amount)
