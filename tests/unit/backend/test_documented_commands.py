"""The commands of README.md and docs/, in their order: each one parses, and no `up` refuses what another one made."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from backend.cli import entry, root
from backend.commands import up as up_command
from backend.fabrics.home import Home
from backend.settings import Settings

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"```\w*\n(.*?)```", re.DOTALL)
INLINE = re.compile(r"`(\./cloverlab [^`\n]*)`")


def commands_of(text: str) -> list[list[str]]:
    """Commands of code blocks and of inline code, as words. A synopsis counts without its optional parts; what is elided is left out."""
    lines = [line for block in BLOCK.findall(text) for line in block.splitlines()]
    lines = [line for line in lines if line.startswith("./cloverlab ")] + INLINE.findall(BLOCK.sub("", text))
    found = []
    for line in lines:
        bare = re.sub(r"\[[^]]*\](\.\.\.)?| [<>|&].*", "", line)
        if "…" not in bare and "COMMAND" not in bare:
            found.append(shlex.split(bare, comments=True)[1:])
    return found


NO_COMMANDS = {
    ("fs",): "the name of a group of commands",
    ("up", "--protocol"): "an option in general, without its value",
    ("up", "--protocol", "toy"): "a family that the reader adds",
}
DOCUMENTED = [
    pytest.param(words, id=f"{page.name}: {' '.join(words)}")
    for page in PAGES
    for words in commands_of(page.read_text())
    if tuple(words) not in NO_COMMANDS
]


def parse(words: list[str]) -> None:
    """Parses a command without running it. Raises a usage error."""
    context, command, rest = root().make_context("cloverlab", list(words)), None, list(words)
    while hasattr(context.command, "commands"):
        rest = [*context._protected_args, *context.args]
        if not rest:
            return
        name, command, rest = context.command.resolve_command(context, rest)
        assert command is not None
        context = command.make_context(name, rest, parent=context)


@pytest.mark.parametrize("words", DOCUMENTED)
def test_a_documented_command_parses(words: list[str]) -> None:
    parse(words)


@pytest.mark.parametrize("words", [["upp"], ["up", "--protocl", "qjm"], ["fault", "crsh", "mds1"], ["run"]])
def test_a_wrong_command_does_not(words: list[str]) -> None:
    with pytest.raises(Exception, match=r"(?i)no such|missing"):
        parse(words)


def test_the_page_of_the_command_line_has_every_command() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text()
    assert [name for name in root().commands if f"`{name}" not in page] == []


def test_no_documented_cluster_refuses_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    opened: list[Any] = []

    def open_only(settings: Settings) -> int:
        Home.open(settings.data, settings.shape, settings.zookeeper).close()
        opened.append(settings.data)
        return 0

    monkeypatch.setattr(up_command, "run_up", open_only)
    monkeypatch.setattr(up_command, "run_detached", open_only)
    documented = [case.values[0] for case in DOCUMENTED]
    ups = [words for words in documented if isinstance(words, list) and "up" in words[:1]]
    for words in ups:
        assert entry([word for word in words if word != "--fresh"]) == 0, words
    assert len(ups) == len(opened) >= 6 and len(set(opened)) >= 4
