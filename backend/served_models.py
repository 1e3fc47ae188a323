"""Structs as the API serves them: models with the fields, types and docstrings of the structs."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from pydantic import BaseModel, Field, create_model


def texts(struct: type) -> dict[str, str]:
    """The docstring behind each field that has one."""
    found = {}
    [body] = ast.parse(dedent(inspect.getsource(struct))).body
    assert isinstance(body, ast.ClassDef)
    for field, text in pairwise(body.body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
        ):
            found[ast.unparse(field.target)] = str(text.value.value)
    return found


def modelled(kind: Any) -> Any:
    """A type with models in place of structs, and in place of what is annotated with one; without the bounds of values."""
    if isinstance(kind, type) and not get_args(kind) and issubclass(kind, msgspec.Struct):
        return served_as(kind)
    of = get_args(kind)
    if get_origin(kind) is Annotated:
        return modelled(of[0]) if isinstance(of[1], msgspec.Meta) else of[1]
    if get_origin(kind) in (list, tuple, dict):
        return get_origin(kind)[tuple(map(modelled, of))]
    return kind if not any(each is not modelled(each) for each in of) else modelled(of[0]) | None


@cache
def served_as(struct: type[msgspec.Struct], name: str = "") -> type[BaseModel]:
    descriptions = texts(struct)
    fields: dict[str, Any] = {
        field: (modelled(hint), Field(description=descriptions.get(field)))
        for field, hint in get_type_hints(struct, include_extras=True).items()
    }
    config = struct.__struct_config__
    tag: dict[str, Any] = {config.tag_field: (Literal[config.tag], ...)} if config.tag_field else {}
    return create_model(name or struct.__name__, __doc__=struct.__doc__, **tag, **fields)
