"""`./cloverlab fault` and `force`: faults of the running cluster."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

import typer

from backend.commands.options import Port, ask
from nodes.faults.table import VERBS
from nodes.faults.words import usage

app = typer.Typer()
ANY = {"ignore_unknown_options": True, "allow_extra_args": True}
PHRASE = re.compile(r"(?:(?:a|last) )?(?:active|standbys|standby|junior|down)(?: \d+)? of \S+|\S+")


@app.command(context_settings=ANY, epilog=f"Options and their defaults: {usage('processes')}.")
def fault(
    context: typer.Context,
    verb: Annotated[
        str,
        typer.Argument(help=", ".join(each.verb for each in VERBS if "processes" in each.fabrics) + "."),
    ],
    port: Port = None,
) -> None:
    """Inject a fault: VERB TARGET… [--option value]. Targets are names, or roles such as 'active of g1'."""
    targets, options = split_arguments(context.args)
    answer = ask(
        context,
        port,
        "POST",
        "/api/faults",
        {"verb": verb.replace("-", "_"), "targets": targets, "options": options},
    )
    print(json.dumps({key: value for key, value in answer.items() if value is not None}))


@app.command()
def force(
    context: typer.Context,
    group: Annotated[str, typer.Argument(help="A group without service: g1.")],
    server: Annotated[str, typer.Argument(help="The server of the group that must serve.")],
    port: Port = None,
) -> None:
    """Make a server serve without its quorum; writes that only the other servers hold are lost. Refused while the group is served."""
    request = {"verb": "force", "targets": [group, server], "options": {}}
    answer = ask(context, port, "POST", "/api/faults", request)
    print(json.dumps({key: value for key, value in answer.items() if value is not None}))


def split_arguments(arguments: list[str]) -> tuple[list[str], dict[str, Any]]:
    """Splits arguments into targets and options; an option is `--name value`, `--name=value`, or `--name` for true."""
    words: list[str] = []
    options: dict[str, Any] = {}
    waiting = ""
    for argument in arguments:
        if argument.startswith("--"):
            waiting, given, value = argument[2:].replace("-", "_").partition("=")
            options[waiting] = typed(value) if given else True
            waiting = "" if given else waiting
        elif waiting:
            options[waiting] = typed(argument)
            waiting = ""
        else:
            words.append(argument)
    return PHRASE.findall(" ".join(words)), options


def typed(text: str) -> Any:
    """The text as a number or truth value where it is one."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float) else text
