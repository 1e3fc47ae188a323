"""Log lines: one format for every process, levels, JSON, and what a failed start says."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import pytest

from nodes.log_lines import FORMAT, LEVEL, LogLines, log
from nodes.real.child_output import last_words

HEAD = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


def failed() -> OSError:
    try:
        raise OSError("no disk")
    except OSError as error:
        return error


def test_a_line_has_time_level_and_name(capsys: pytest.CaptureFixture[str]) -> None:
    log("info", "mds1", "starts\nnow")
    log("error", "mds1", "ends", failed())
    first, second, *trace = capsys.readouterr().err.splitlines()
    assert re.fullmatch(f"{HEAD} info mds1: starts now", first)
    assert re.fullmatch(f"{HEAD} error mds1: ends", second)
    assert trace[0].startswith("Traceback") and trace[-1] == "OSError: no disk"


def test_json_is_one_document_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(FORMAT, "json")
    log("warning", "mds1", 'a "quoted" word')
    log("error", "mds1", "ends", failed())
    first, second = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert re.fullmatch(HEAD, first.pop("time"))
    assert first == {"level": "warning", "name": "mds1", "line": 'a "quoted" word'}
    assert second["traceback"].endswith("OSError: no disk\n")


@pytest.mark.parametrize(
    ("level", "kept"), [("debug", 4), ("info", 3), ("warning", 2), ("error", 1), ("loud", 3)]
)
def test_lower_levels_are_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], level: str, kept: int
) -> None:
    monkeypatch.setenv(LEVEL, level)
    for each in ("debug", "info", "warning", "error"):
        log(each, "mds1", each)  # type: ignore[arg-type]
    assert len(capsys.readouterr().err.splitlines()) == kept


@pytest.mark.parametrize(
    ("number", "level"), [(5, "debug"), (20, "info"), (30, "warning"), (40, "error"), (50, "error")]
)
def test_records_of_libraries_are_lines_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int, level: str
) -> None:
    monkeypatch.setenv(LEVEL, "debug")
    LogLines("control").emit(logging.LogRecord("asyncio", number, "", 1, "it %s", ("waits",), None))
    assert capsys.readouterr().err.endswith(f" {level} control: asyncio: it waits\n")


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_failed_start_is_quoted_without_the_head(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, form: str
) -> None:
    monkeypatch.setenv(FORMAT, form)
    log("error", "mds1", "mds1 cannot listen: in use")
    errors = tmp_path / "mds1.err"
    errors.write_text(capsys.readouterr().err)
    assert last_words(errors, 0) == "mds1 cannot listen: in use"
    errors.write_text("ModuleNotFoundError: No module named 'x'\n")
    assert last_words(errors, 0) == "ModuleNotFoundError: No module named 'x'"
