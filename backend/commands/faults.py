"""`./cloverlab fault` and `force`: faults of the running cluster. Each verb of nodes/faults/table.py is a command with typed options."""

from __future__ import annotations

import inspect
import re
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from backend.commands.completion import names
from backend.commands.options import Port, ask, inherit_port
from backend.commands.output import Format, Output, show
from backend.errors import of_fault
from nodes.faults.check import FaultUnsupported, check_count, options_of
from nodes.faults.model import Option, Verb
from nodes.faults.table import BY_NAME, VERBS
from nodes.faults.words import plain

PHRASE = re.compile(r"(?:(?:a|last) )?(?:active|standbys|standby|junior|down)(?: \d+)? of \S+|\S+")
ALONE = "Simulated clusters only: "


class Verbs(TyperGroup):
    """The verbs, with `-` or `_` in their names."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name.replace("-", "_"))


app = typer.Typer()
fault = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    help="Inject a fault into the running cluster, or end one.",
    epilog="Examples: fault crash active of g1; fault delay mds1 mds2 --ms 200; fault heal_all. "
    "Targets are names, or roles: active of g1, standby 2 of g1, a standby of g1, last down of g1.",
)
fault.callback()(inherit_port)
app.add_typer(fault, name="fault")


@fault.command("list")
def list_verbs(output: Output = Format.TABLE) -> None:
    """List the verbs with their targets and options."""
    rows = [
        {
            "verb": verb.verb,
            "targets": " ".join(verb.targets),
            "fabrics": " ".join(verb.fabrics),
            "options": " ".join(f"--{flag(name)}" for name in options_of(verb)),
        }
        for verb in VERBS
    ]
    show(output, rows)


def flag(name: str) -> str:
    return name.replace("_", "-")


def parameter(option: Option) -> inspect.Parameter:
    """The option of the command line; nothing is sent for one that is not given."""
    default = str(option.default).lower()
    note = "" if "processes" in option.fabrics else ALONE
    fields: dict[str, Any] = {"help": f"{note}{plain(option.help)} (default {default})"}
    flags = [f"--{flag(option.name)}"]
    kind: Any = str
    match option.type:
        case "whole" | "number":
            kind = int if option.type == "whole" else float
            fields |= {"min": option.least, "max": option.most, "metavar": option.unit.upper() or "N"}
        case "share":
            kind, fields = float, fields | {"min": 0, "max": 1, "metavar": "SHARE"}
        case "choice" | "direction":
            kind = Literal[(*option.choices, *option.simulated_choices)]
            fields["metavar"] = "|".join((*option.choices, *option.simulated_choices))
        case "names":
            kind, fields["metavar"] = list[str], "NAME"
        case "word":
            fields["metavar"] = "WORD"
        case "switch":
            kind = bool
            flags = ["--on/--off"] if option.name == "on" else flags
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, typer.Option(*flags, **fields)],
    )


def targets_of(verb: Verb) -> inspect.Parameter:
    help_text = f"{', '.join(verb.targets)}: names or roles, {verb.counts[0]} to {verb.counts[1]}."
    argument = typer.Argument(metavar="TARGET...", help=help_text, autocompletion=names)
    return inspect.Parameter(
        "targets",
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[list[str] | None, argument],
    )


def add(verb: Verb) -> None:
    """Registers the command of a verb."""

    def inject(context: typer.Context, port: int | None, output: Format, **given: Any) -> None:
        targets = PHRASE.findall(" ".join(given.pop("targets", None) or ()))
        options = {name: value for name, value in given.items() if value is not None}
        report(context, port, output, verb, targets, options)

    fixed = [
        inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
        inspect.Parameter("port", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Port),
        inspect.Parameter("output", inspect.Parameter.KEYWORD_ONLY, default=Format.TABLE, annotation=Output),
    ]
    of_verb = [parameter(option) for option in options_of(verb).values()]
    targets = [targets_of(verb)] if verb.counts[1] else []
    inject.__signature__ = inspect.Signature([*fixed, *targets, *of_verb])  # type: ignore[attr-defined]
    note = "" if "processes" in verb.fabrics else ALONE
    short = verb.danger or f"{verb.label}."
    fault.command(verb.verb, help=f"{note}{plain(verb.does)}.", short_help=f"{note}{plain(short)}")(inject)


def report(
    context: typer.Context,
    port: int | None,
    output: Format,
    verb: Verb,
    targets: list[str],
    options: dict[str, Any],
) -> None:
    """Injects the fault and prints the answer. Raises LabError."""
    try:
        check_count(verb, targets, options)
    except FaultUnsupported as error:
        raise of_fault(error) from None
    request = {"verb": verb.verb, "targets": targets, "options": options}
    answer = ask(context, port, "POST", "/api/faults", request)
    show(output, {key: value for key, value in answer.items() if value is not None})


for each in VERBS:
    add(each)


@app.command()
def force(
    context: typer.Context,
    group: Annotated[str, typer.Argument(metavar="GROUP", help="A group without service: g1.")],
    server: Annotated[str, typer.Argument(metavar="SERVER", help="The server of the group that must serve.")],
    port: Port = None,
    output: Output = Format.TABLE,
) -> None:
    """Make a server serve without its quorum; writes that only the other servers hold are lost. Refused while the group is served."""
    report(context, port, output, BY_NAME["force"], [group, server], {})
