"""The commands of README.md and of pages for beginners do what they should when they are pasted in the order in which they stand."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes.backend.running import REPOSITORY
from tests.processes.backend.shell import Shell
from tests.unit.backend.test_documented_commands import commands_of

PAGES = ["README.md", "docs/command-line.md"]
NOT_PASTED = {
    "test": "runs this test again, and everything else",
    "remove SERVER": "a synopsis; tests/processes/backend/test_removal.py runs it",
    "bundle FILE.tar.gz": "a synopsis, and a file in the working directory",
}
"""Commands that are left out, with the reason."""


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    made = Shell(tmp_path)
    yield made
    made.run("down")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_works_when_it_is_pasted(page: str, shell: Shell) -> None:
    """A foreground `up` would hold the terminal until Ctrl-C, so it is detached here, and stopped before the next one."""
    done: list[str] = []
    for words in commands_of((REPOSITORY / page).read_text()):
        command = shlex.join(words)
        if command in NOT_PASTED:
            continue
        if words[0] == "up":
            shell.run("down")
            words = [*words, *([] if "--detach" in words else ["--detach"])]
        ran = shell.run(*words)
        assert ran.returncode == 0, (page, [*done, command], ran.stderr[-800:])
        assert "Traceback" not in ran.stderr
        done.append(command)
    assert len(done) >= 5, done
