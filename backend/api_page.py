"""The reference of the API, written from its schema: `/api/docs` as a page without scripts, and docs/api.md."""

from __future__ import annotations

import html
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

router = APIRouter()
METHODS = ("get", "post", "put", "delete")
HEAD = """# The API

Every request needs the key: `Authorization: Bearer KEY` ([Security](security.md#the-page-and-the-api)). Errors are
`{"error": "one line"}`. A running control plane has this list at `/api/docs` and its schema at `/api/openapi.json`.
This page is written by `python -m backend.app`.

"""
STYLE = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}dd{margin-bottom:.5rem}"


class Field(msgspec.Struct, frozen=True):
    name: str
    kind: str
    required: bool

    def __str__(self) -> str:
        return f"{self.name}: {self.kind}" if self.required else f"[{self.name}: {self.kind}]"


class Operation(msgspec.Struct, frozen=True):
    method: str
    path: str
    says: str
    parameters: list[Field]
    body: list[Field]

    def lines(self) -> list[tuple[str, str]]:
        """The parts beside the address, each with its label."""
        parts = [("", self.says)] if self.says else []
        for label, fields in (("Parameters", self.parameters), ("Body", self.body)):
            if fields:
                parts.append((label, ", ".join(map(str, fields))))
        return parts


def operations(schema: dict[str, Any]) -> list[Operation]:
    """The operations of an OpenAPI schema, in the order of their routes."""
    return [
        Operation(
            method.upper(),
            path,
            " ".join(found.get("description", "").split()),
            [field(each["name"], each["schema"], each["required"]) for each in found.get("parameters", [])],
            body_of(found, schema),
        )
        for path, by_method in schema["paths"].items()
        for method, found in by_method.items()
        if method in METHODS
    ]


def body_of(operation: dict[str, Any], schema: dict[str, Any]) -> list[Field]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    reference = content.get("schema", {}).get("$ref", "")
    if not reference:
        return []
    model = schema["components"]["schemas"][reference.rpartition("/")[2]]
    required = model.get("required", [])
    return [field(name, each, name in required) for name, each in model.get("properties", {}).items()]


def field(name: str, schema: dict[str, Any], required: bool) -> Field:
    return Field(name, kind_of(schema), required)


def kind_of(schema: dict[str, Any]) -> str:
    """The type of a value in a few words."""
    if "anyOf" in schema:
        return " or ".join(kind_of(each) for each in schema["anyOf"] if each.get("type") != "null")
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array":
        return f"list of {kind_of(schema.get('items', {}))}"
    return str(schema.get("const", schema.get("type", "any")))


def markdown(schema: dict[str, Any]) -> str:
    sections = []
    for operation in operations(schema):
        parts = "\n\n".join(f"{label}: `{text}`" if label else text for label, text in operation.lines())
        sections.append(f"## {operation.method} {operation.path}\n\n{parts}".rstrip())
    return HEAD + "\n\n".join(sections) + "\n"


def page(schema: dict[str, Any]) -> str:
    rows = []
    for operation in operations(schema):
        rows.append(f"<dt><code>{operation.method} {html.escape(operation.path)}</code>")
        rows += [
            f"<dd>{label}{': ' if label else ''}{html.escape(text)}" for label, text in operation.lines()
        ]
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Cloverlab: the API</title><style>{STYLE}</style>'
        f'<h1>The API</h1><p><a href="/api/openapi.json">The schema</a><dl>{"".join(rows)}</dl></html>'
    )


@router.get("/api/docs", include_in_schema=False)
async def read_docs(request: Request) -> Response:
    return HTMLResponse(page(request.app.openapi()))
