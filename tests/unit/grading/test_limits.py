"""Submissions that loop, eat memory, print without end, fork, or import what they should not: one clear line each."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.grading.supervisor import grade
from benchmarks.submissions import reference

START = "        return members - members // 2"


def refused(tmp_path: Path, source: str) -> str:
    file = tmp_path / "part.py"
    file.write_text(source)
    found = grade("election", file, range(1, 3), 1, seed_cpu_s=2)
    assert not found.well
    assert "\n" not in found.refused
    return found.refused


def in_method(body: str) -> str:
    source = reference("election").read_text()
    assert START in source
    return source.replace(START, "\n".join(f"        {line}" for line in body.splitlines()))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("while True:\n    pass", "does the code loop for ever?"),
        (
            "try:\n    while True:\n        pass\nexcept BaseException:\n    return 1",
            "does the code loop for ever?",
        ),
        ("return len('x' * (1 << 34))", "uses too much memory"),
        ("for _ in range(1 << 20):\n    print('x' * 1024)", "prints more than 64 KiB"),
        ("return '3'", "read_quorum must return int, and returned str"),
    ],
)
def test_what_a_submission_does_is_refused(tmp_path: Path, body: str, words: str) -> None:
    assert words in refused(tmp_path, in_method(body))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("import os", "part.py:1: imports os; the lab gives"),
        ("from subprocess import run", "imports subprocess"),
        ("import nodes.protocols.mams.rules", "imports nodes.protocols.mams.rules"),
        ("from . import x", "imports .;"),
        ("open('/etc/passwd')", "part.py:1: open is not there in a lab"),
        ("__import__('os')", "__import__ is not there"),
        ("().__class__.__base__.__subclasses__()", "is not there in a lab"),
        ("eval('1')", "eval is not there"),
        ("import math.nothing", "imports math.nothing"),
        ("x = ", "part.py:1: invalid syntax"),
        ("x = 1 / 0", "does not load: ZeroDivisionError"),
        ("x = 'y' * (1 << 34)", "uses too much memory"),
        ("class Election: pass", "Election has no method winner"),
    ],
)
def test_what_a_submission_asks_for_is_refused_before_it_runs(tmp_path: Path, line: str, words: str) -> None:
    source = line if line.startswith("class") else line + "\n" + reference("election").read_text()
    assert words in refused(tmp_path, source)


def test_a_module_that_a_given_one_imports_is_no_way_out(tmp_path: Path) -> None:
    """`collections` has `_sys`, and that has every module: the audit hook refuses what it is used for."""
    body = "import collections\ncollections._sys.modules['os'].fork()\nreturn 1"
    assert "os.fork, which the lab does not allow" in refused(tmp_path, in_method(body))
    body = "import collections\ncollections._sys.modules['os'].open('/tmp/x', 65)\nreturn 1"
    assert "writes the file" in refused(tmp_path, in_method(body))


def test_the_environment_of_a_submission_has_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOVERLAB_KEY", "secret")
    body = "import collections\nraise ValueError(sorted(collections._sys.modules['os'].environ))"
    file = tmp_path / "part.py"
    file.write_text(in_method(body))
    found = grade("election", file, range(1, 2), 1, seed_cpu_s=5)
    assert found.failed is not None
    assert "PYTHONPATH" in found.failed.explanation
    assert "CLOVERLAB" not in found.failed.explanation
