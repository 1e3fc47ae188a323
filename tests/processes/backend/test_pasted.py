"""The commands of README.md and of docs/ do what they should when they are pasted in the order in which they stand."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chosen import only_full
from tests.processes.backend.running import REPOSITORY
from tests.processes.backend.shell import Shell
from tests.unit.backend.test_documented_commands import commands_of

PAGES = ["README.md", "docs/command-line.md", "docs/simulated.md"]
FULL_PAGES = [
    "docs/faults.md",
    "docs/global-recovery.md",
    "docs/groups.md",
    "docs/protocols/baselines.md",
    "docs/labs.md",
    "docs/classes.md",
    "docs/watching.md",
]
PLACEHOLDER = re.compile(r"\b(CODE|COMMIT|FILE|GROUP|NAME|SERVER)\b")
"""Marks a synopsis, which other tests fill in."""
NOT_PASTED = {
    "test": "runs this test again, and everything else",
    "watch": "goes on until Ctrl-C",
    "watch --kind Serving": "goes on until its reader closes the pipe",
    "bench simulated": "takes minutes",
    "clock play --until-condition settled": "is refused where it holds already, and no fault was injected before",
    "force g1 mds2": "is refused while a server serves the group",
    "grade election mine": "says that a skeleton is not finished",
    "grade election mine --student Ada --code ABCD-2345 --out verdict.json": "likewise, with a code of its class",
    "lab run what-is-a-standby --script ada.yaml -o json": "plays a file that the page describes",
}
"""Commands that are left out, with the reason."""


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    where = tmp_path / "pasted"
    where.mkdir()
    (where / "scenarios").symlink_to(REPOSITORY / "scenarios")
    made = Shell(tmp_path, where)
    yield made
    made.run("down")


@pytest.mark.parametrize("page", [*PAGES, *only_full(*FULL_PAGES)])
def test_a_page_works_when_it_is_pasted(page: str, shell: Shell) -> None:
    """A foreground `up` would hold the terminal until Ctrl-C, so it is detached here, and stopped before the next one. A page without an `up`
    is for a cluster that runs already."""
    commands, done = commands_of((REPOSITORY / page).read_text()), list[str]()
    if all(words[0] != "up" for words in commands):
        commands = [["up"], *commands]
    for words in commands:
        command = shlex.join(words)
        if command in NOT_PASTED or PLACEHOLDER.search(command):
            continue
        if words[0] == "up":
            shell.run("down")
            words = [*words, *([] if "--detach" in words else ["--detach"])]
        ran = shell.run(*words)
        assert ran.returncode == 0, (page, [*done, command], ran.stderr[-800:])
        assert "Traceback" not in ran.stderr
        done.append(command)
    assert len(done) >= 4, done
