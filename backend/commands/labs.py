"""`./cloverlab lab`: lessons that ask for a prediction, let one cause the fault, and check what the cluster then did."""

from __future__ import annotations

import asyncio
import getpass
import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from backend.commands.output import Format, Output, show
from backend.errors import Exit, Malformed
from backend.labs import progress as store
from backend.labs.grades import LabGrade
from backend.labs.lab_run import run_lab
from backend.labs.model import Answer, ScriptPart
from backend.labs.reader import StudentLab, lab_of, names, read_script
from backend.scenarios.durations import nanoseconds
from backend.scenarios.model import StepPart
from backend.scenarios.reader import Lines, check_step

app = typer.Typer()
lab = typer.Typer(no_args_is_help=True, help="Labs: predict, break, observe, have it checked.")
app.add_typer(lab, name="lab")

Name = Annotated[str, typer.Argument(metavar="NAME", help="A lab, as `lab list` names it.")]
Student = Annotated[
    str | None,
    typer.Option(
        "--student", metavar="NAME", envvar="CLOVERLAB_STUDENT",
        help="Your name: it draws your numbers (default: the name of your login).",
    ),
]  # fmt: skip


def named(student: str | None) -> str:
    return student or getpass.getuser()


@lab.command("list")
def list_labs(student: Student = None, output: Output = Format.TABLE) -> None:
    """List all labs, with your progress."""
    who = named(student)
    labs = sorted((lab_of(name, who) for name in names()), key=lambda each: each.file.number)
    show(output, [row_of(each, who) for each in labs])


def row_of(each: StudentLab, who: str) -> dict[str, Any]:
    saved = store.loaded(each.key, who)
    state = (
        "-" if saved is None else "done" if saved.done else f"{len(saved.passed)} of {len(each.file.steps)}"
    )
    papers = ", ".join(dict.fromkeys(reading.paper for reading in each.file.read))
    return {
        "lab": each.key, "title": each.file.name, "papers": papers, "minutes": each.file.minutes, "progress": state,
    }  # fmt: skip


@lab.command()
def start(
    name: Name,
    student: Student = None,
    again: Annotated[bool, typer.Option("--again", help="Forget your answers and actions.")] = False,
) -> None:
    """Begin a lab: its page and its steps."""
    who = named(student)
    each = lab_of(name, who)
    if again or store.loaded(name, who) is None:
        store.save(store.LabProgress(name, who))
    print(each.page.strip())
    print("\nSteps\n")
    print_steps(each, store.begun(name, who))


def print_steps(each: StudentLab, saved: store.LabProgress) -> None:
    for number, step in enumerate(each.file.steps, 1):
        done = "x" if step.id in saved.passed else " "
        print(f"[{done}] {number}. {step.id}: {step.text}")
        if step.predict is not None:
            for key, text in step.predict.choices.items():
                print(f"       {key}: {text}")
            unit = f" ({step.predict.unit})" if step.predict.unit else ""
            answered = saved.answers.get(step.id)
            print(f"       answer{unit}: {'-' if answered is None else answered}")


@lab.command()
def answer(name: Name, step: str, value: str, student: Student = None) -> None:
    """Predict: answer the question of a step, before your first action."""
    who = named(student)
    saved = store.with_answer(store.begun(name, who), lab_of(name, who), step, of_text(value))
    store.save(saved)


def of_text(value: str) -> Answer:
    try:
        return float(value)
    except ValueError:
        return value


@lab.command()
def do(
    name: Name,
    verb: Annotated[
        str, typer.Argument(metavar="VERB", help="A fault, as `fault list` names it; mark or recover.")
    ],
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="[TARGET...]", help="Servers, or roles: 'active of g1'.")
    ] = None,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="Time since the load began: 10s.")] = None,
    after: Annotated[
        str | None, typer.Option(metavar="TIME", help="Time since the action before: 500ms.")
    ] = None,
    when: Annotated[str | None, typer.Option(metavar="CONDITION", help="A condition of scenarios.")] = None,
    span: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="Undo it after this time.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option of the fault.")
    ] = None,
    student: Student = None,
) -> None:
    """Add an action to your run. `lab check` then runs all of them from the beginning."""
    who = named(student)
    each, saved = lab_of(name, who), store.begun(name, who)
    words = list(targets or ())
    given: dict[str, Any] = {"at": at, "after": after, "when": when}
    if verb in ("mark", "recover"):
        if len(words) != 1:
            raise Malformed(f"{verb} takes the name of one checkpoint")
        given[verb] = words[0]
    else:
        target: str | list[str] | None = words[0] if len(words) == 1 else words or None
        given |= {"fault": verb, "target": target, "options": options_of(option or []), "span": span}
    action = StepPart(**given)
    check_step(action, Lines(Path("lab do"), None), [])
    if at is not None and nanoseconds(at) > nanoseconds(f"{each.file.seconds}s"):
        raise Malformed(f"the run of {name} ends after {each.file.seconds} s")
    saved = store.with_action(saved, each, action)
    store.save(saved)
    print(f"action {len(saved.actions)} is noted; `lab check {name}` runs it", file=sys.stderr)


def options_of(given: list[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for each in given:
        name, equals, text = each.partition("=")
        if not equals:
            raise Malformed(f"--option {each[:40]!r}: write NAME=VALUE")
        value = of_text(text)
        options[name] = int(value) if isinstance(value, float) and value.is_integer() else value
    return options


@lab.command()
def undo(name: Name, student: Student = None) -> None:
    """Take your last action back."""
    who = named(student)
    saved = store.begun(name, who)
    store.save(store.without_last_action(saved))


@lab.command()
def check(name: Name, student: Student = None, output: Output = Format.TABLE) -> None:
    """Run your actions on a fresh simulated cluster and check every step. Exit code 1: a step is not passed."""
    who = named(student)
    each, saved = lab_of(name, who), store.begun(name, who)
    grade = asyncio.run(run_lab(each, saved.script))
    store.save(store.with_grade(saved, grade))
    report(grade, output)


@lab.command()
def hint(name: Name, student: Student = None) -> None:
    """Show the next hint of the first step that you have not passed."""
    who = named(student)
    saved, step, text = store.next_hint(store.begun(name, who), lab_of(name, who))
    store.save(saved)
    print(f"{step}: {text}" if text else "no hint is left")


@lab.command()
def status(name: Name, student: Student = None, output: Output = Format.TABLE) -> None:
    """Show your answers, actions and passed steps."""
    who = named(student)
    each, saved = lab_of(name, who), store.begun(name, who)
    if output is Format.JSON:
        show(output, msgspec.to_builtins(saved))
        return
    print_steps(each, saved)
    for number, action in enumerate(saved.actions, 1):
        print(f"action {number}: {in_words(action)}")
    print("done" if saved.done else f"runs: {saved.runs}")


def in_words(action: StepPart) -> str:
    when = first_given(action, "at", "after", "when")
    what = action.fault or first_given(action, "mark", "recover") or "workload"
    targets = [action.target] if isinstance(action.target, str) else action.target or []
    return " ".join(filter(None, (when, what, *targets)))


def first_given(action: StepPart, *names: str) -> str:
    """The first of these fields that is set, behind its name; empty when none is."""
    return next((f"{name} {value}" for name in names if (value := getattr(action, name))), "")


@lab.command("run")
def run_script(
    name: Name,
    script: Annotated[Path, typer.Option(metavar="FILE", help="YAML with student, answers and actions.")],
    student: Student = None,
    output: Output = Format.TABLE,
) -> None:
    """Run and grade a lab by a script, without saving anything. Exit code 1: a step is not passed."""
    given = read_script(script)
    who = student or given.student
    filled = ScriptPart(student=who, answers=given.answers, actions=given.actions)
    report(asyncio.run(run_lab(lab_of(name, who), filled)), output)


def report(grade: LabGrade, output: Format) -> None:
    rows = [
        {"step": step.id, "verdict": "passed" if step.passed else "open", "seen": step.seen}
        for step in grade.steps
    ]
    data = {
        "lab": grade.lab, "student": grade.student, "passed": grade.passed, "numbers": grade.numbers,
        "steps": [{**row, "why": step.why} for row, step in zip(rows, grade.steps, strict=True)], "story": grade.lost,
    }  # fmt: skip
    show(output, data, rows)
    if output is Format.TABLE:
        for step in grade.steps:
            if step.why:
                print(f"\n{step.id}: {step.why}")
        if grade.lost:
            print("\nWhat led to the first broken promise:", *grade.lost, sep="\n")
        print(
            "\nAll steps are passed."
            if grade.passed
            else f"\nOpen: {grade.failed_at}. A hint: ./cloverlab lab hint {grade.lab}"
        )
    if not grade.passed:
        raise typer.Exit(Exit.FAILED)
