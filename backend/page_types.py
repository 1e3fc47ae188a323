"""`python -m backend.page_types --write`: API, stream, events and families' words as frontend/src/api/schema.ts. Without `--write` it prints them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from pydantic import BaseModel

from backend.attempts import models as attempts
from backend.checkpoints import models as checkpoints
from backend.classes import models as classes
from backend.clock import models as clock
from backend.clusters import models as clusters
from backend.compare import models as compare
from backend.conditions import models as conditions
from backend.coordination import models as coordination
from backend.events import models as events
from backend.events.frames import StreamFrame
from backend.events.messages import MessageLine
from backend.faults import models as faults
from backend.fleet import models as fleet
from backend.fs import models as fs
from backend.labs import models as labs
from backend.papers import models as papers
from backend.pool import models as pool
from backend.pool.volume import State
from backend.scenario_runs import models as scenarios
from backend.searches import models as searches
from backend.served_models import served_as
from backend.store.encoding import BIG, KINDS, TAKEN
from backend.vocabulary import Vocabulary, vocabularies
from nodes.mechanisms import MESSAGES
from nodes.roles import LETTERS, Role
from nodes.states import ProcessState
from nodes.wire.messages import Topic

FILE = Path(__file__).resolve().parents[1] / "frontend" / "src" / "api" / "schema.ts"
HEAD = "/** Made by `python -m backend.page_types --write`; edit the models there, which say what each field means. */\n"
SIMPLE = {str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null", Any: "unknown"}
ALIASES = {
    "Process": ProcessState,
    "Role": Role,
    "Direction": clusters.Direction,
    "Letter": events.Letter,
    "CellState": events.CellState,
    "ReplicaState": State,
    "Topic": Topic,
}
"""Literals by the names that the page gives them."""
READ = (
    "CheckFailed", "Configured", "Drawn", "FaultInjected", "LockHeld", "LockRemoved", "Placed", "Serving", "SessionEnded", "StepTaken",
)  # fmt: skip
"""Events of which the page reads more than the sentence."""
MODULES = (
    clusters,
    clock,
    events,
    faults,
    fleet,
    fs,
    pool,
    checkpoints,
    compare,
    conditions,
    coordination,
    scenarios,
    labs,
    attempts,
    classes,
    searches,
    papers,
)
NAMES = {kind: name for name, kind in ALIASES.items()}


def models(kinds: Iterable[Any], found: dict[type[BaseModel], None]) -> dict[type[BaseModel], None]:
    """These and all that their fields hold, bases first."""
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, BaseModel) and kind not in found:
            models([kind.__mro__[1], *(field.annotation for field in kind.model_fields.values())], found)
            found[kind] = None
        models(get_args(kind), found)
    return found


def name_of(model: type) -> str:
    return model.__name__.removesuffix("Out")


def choices(literal: Any) -> str:
    return " | ".join(f'"{each}"' for each in get_args(literal))


def typed(kind: Any) -> str:
    """A Python type as TypeScript."""
    if kind is events.Stamp:
        return "LabEvent"
    if kind in SIMPLE:
        return SIMPLE[kind]
    origin, of = get_origin(kind), get_args(kind)
    if origin is Literal:
        return NAMES.get(kind) or choices(kind)
    if origin in (Union, UnionType):
        return " | ".join(map(typed, of))
    if origin is dict:
        return f"Record<string, {typed(of[1])}>"
    if origin is list or (origin is tuple and of[-1] is Ellipsis):
        inner = typed(of[0])
        return f"({inner})[]" if " | " in inner and inner not in NAMES.values() else f"{inner}[]"
    if origin is tuple:
        return f"[{', '.join(map(typed, of))}]"
    return name_of(kind)


def interface(model: type[BaseModel]) -> str:
    base: Any = model.__mro__[1]
    inherited = base.model_fields
    fields = []
    for name, field in model.model_fields.items():
        if name in inherited:
            continue
        optional = issubclass(model, clusters.Strict) and not field.is_required()
        kind = typed(field.annotation).removesuffix(" | null" if optional else "")
        fields.append(f"{name}{'?' if optional else ''}: {kind}")
    extends = f" extends {name_of(base)}" if inherited else ""
    return f"export interface {name_of(model)}{extends} {{ {'; '.join(fields)} }}"


def event(name: str, kind: type[msgspec.Struct]) -> str:
    """The interface of an event as `backend.store.encoding.named` encodes it."""
    fields = [f'kind: "{name}"']
    for field, hint in get_type_hints(kind).items():
        reported = "string" if field in BIG and hint is int else typed(hint)
        fields.append(f"{f'of_{field}' if field in TAKEN else field}: {reported}")
    return f"export interface {name} extends Stamp {{ {'; '.join(fields)} }}"


def schema() -> str:
    parts = [f"export type {name} = {choices(kind)};" for name, kind in ALIASES.items()]
    line = ", ".join(f"{name}: {typed(kind)}" for name, kind in get_type_hints(MessageLine).items())
    parts.append(f"export type MessageLine = [{line}];")
    frames = [served_as(kind) for kind in get_args(StreamFrame)]
    served = models([*(each for module in MODULES for each in vars(module).values()), *frames], {})
    parts += [interface(each) for each in served if each.model_fields]
    parts += [event(name, KINDS[name]) for name in READ]
    parts.append(f"export type LabEvent = {' | '.join(READ)};")
    parts.append(f"export type StreamFrame = {' | '.join(map(name_of, frames))};")
    parts += [interface(each) for each in models([served_as(Vocabulary)], {}) if each.model_fields]
    words = "".join(
        f'  "{name}": {msgspec.json.encode(each).decode()},\n' for name, each in vocabularies().items()
    )
    topics = ", ".join(
        f'{each.__name__}: ["{each.topic}", {str(each.is_reply).lower()}]' for each in MESSAGES
    )
    parts.append(f"export const MESSAGES: Record<string, readonly [Topic, boolean]> = {{ {topics} }};")
    letters = ", ".join(f'{role or "down"}: "{letter}"' for role, letter in LETTERS.items())
    parts.append(f"export const LETTERS: Record<Role, Letter> = {{ {letters} }};")
    parts.append(f"export const FAMILIES = {{\n{words}}} satisfies Record<string, Vocabulary>;")
    return HEAD + "\n".join(parts) + "\n"


def main(arguments: list[str]) -> None:
    if arguments == ["--write"]:
        FILE.write_text(schema())
    else:
        print(schema(), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
