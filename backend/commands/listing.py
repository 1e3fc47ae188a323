"""Calls of the file system commands, and the listing of directories page by page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import typer

from backend.commands.options import ask

PAGE = 200


def call(context: typer.Context, port: int | None, do: str, path: str, **options: Any) -> Any:
    return ask(context, port, "POST", "/api/fs", {"do": do, "path": path, **options})["result"]


def names_in(context: typer.Context, port: int | None, path: str) -> Iterator[str]:
    """The names of a directory in order."""
    after, more = "", True
    while more:
        page = call(context, port, "ls", path, after=after)
        yield from page["names"]
        after, more = page["names"][-1] if page["names"] else "", page["more"]


def entries_in(context: typer.Context, port: int | None, path: str) -> Iterator[dict[str, Any]]:
    """The names of a directory in order, with their objects. The names of a page may all have gone meanwhile."""
    after, more = "", True
    while more:
        query = urlencode({"path": path, "after": after, "limit": PAGE})
        page = ask(context, port, "GET", f"/api/fs/list?{query}")
        yield from page["entries"]
        after, more = page["entries"][-1]["name"] if page["entries"] else "", page["more"]


def files_below(context: typer.Context, port: int | None, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every file below a path, with its path; the file itself if it is one."""
    found = call(context, port, "stat", path)
    if found["kind"] == "file":
        yield path, found
        return
    ahead = [path.rstrip("/")]
    while ahead:
        directory = ahead.pop()
        for entry in entries_in(context, port, directory or "/"):
            below = f"{directory}/{entry['name']}"
            if entry["kind"] == "directory":
                ahead.append(below)
            else:
                yield below, entry
