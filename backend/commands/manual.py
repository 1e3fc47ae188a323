"""`./cloverlab help`, `man` and `completion`: the pages of docs/ in a terminal, a manual page and a shell's completion."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from backend.commands.completion import VARIABLE, pages, topics
from backend.errors import Exit, Malformed
from backend.suggestion import nearest
from backend.version import version

app = typer.Typer()
SHELLS = ("bash", "zsh", "fish")


@app.command("help")
def help_on(
    context: typer.Context,
    topic: Annotated[
        str, typer.Argument(metavar="[TOPIC]", help="A page of docs/, or a command.", autocompletion=topics)
    ] = "",
) -> None:
    """Show a page of the documentation; without a topic, the list of them."""
    known = pages()
    if not topic:
        width = max(map(len, known))
        print("\n".join(f"{name:{width}}  {title(page.read_text())}" for name, page in known.items()))
    elif topic in known:
        show_page(known[topic].read_text())
    else:
        commands = context.find_root().command
        command = getattr(commands, "commands", {}).get(topic)
        if command is None:
            near = nearest(topic, known)
            near += mentions(topic, known)
            raise Malformed(
                f"no page or command is called {topic[:40]!r}{near}; ./cloverlab help lists the pages"
            )
        print(command.get_help(typer.Context(command, info_name=topic, parent=context.find_root())))


def title(text: str) -> str:
    return text.partition("\n")[0].lstrip("# ")


def mentions(word: str, known: dict[str, Path]) -> str:
    """The pages that have the word most often, as the end of a line; empty when none has it."""
    counts = Counter({name: page.read_text().lower().count(word.lower()) for name, page in known.items()})
    found = [name for name, count in counts.most_common(3) if count]
    return f"; {', '.join(found)} mention it" if found else ""


def show_page(text: str) -> None:
    """Formatted on a terminal, as it is elsewhere."""
    if not sys.stdout.isatty():
        print(text, end="")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.pager(styles=True):
        console.print(Markdown(text))


@app.command()
def completion(
    shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish", autocompletion=lambda: list(SHELLS))],
) -> None:
    """Print the script that lets a shell complete commands: eval "$(./cloverlab completion bash)"."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    if shell not in SHELLS:
        raise Malformed(f"no completion for {shell[:20]!r}; there are {', '.join(SHELLS)}")
    print(get_completion_script(prog_name="cloverlab", complete_var=VARIABLE, shell=shell))


@app.command()
def man(context: typer.Context) -> None:
    """Print the manual page of all commands: ./cloverlab man | man -l -."""
    root = context.find_root()
    print(
        "\n".join(
            [
                f'.TH CLOVERLAB 1 "" "cloverlab {version()}"',
                ".SH NAME",
                f"cloverlab \\- {quoted(root.command.help or '')}",
            ]
        )
    )
    print(".SH COMMANDS")
    for name, command, parent in commands_of(root.command, root):
        print("\n".join(section(name, command, parent)))
    print(".SH EXIT STATUS")
    for code in Exit:
        print(f".TP\n.B {code.value}\n{code.name.lower()}")


def commands_of(group: Any, parent: Any, before: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every command, with its full name and the context of its group."""
    for name in group.commands:
        command = group.commands[name]
        full = f"{before}{name}"
        if hasattr(command, "commands"):
            context = typer.Context(command, info_name=name, parent=parent)
            yield from commands_of(command, context, f"{full} ")
        else:
            yield full, command, parent


def section(name: str, command: Any, parent: Any) -> Iterator[str]:
    """One command in roff."""
    context = typer.Context(command, info_name=name.rpartition(" ")[2], parent=parent)
    usage = " ".join(command.collect_usage_pieces(context))
    yield f'.SS "{quoted(name)} {quoted(usage)}"'
    yield quoted(" ".join((command.help or "").split()))
    for option in command.params:
        record = option.get_help_record(context)
        if record is not None:
            yield f".TP\n.B {quoted(record[0])}\n{quoted(record[1])}"


def quoted(text: str) -> str:
    """Text without what roff reads as a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped
