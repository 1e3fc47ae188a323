"""What a shell proposes for the words of a command line. Without an answer it proposes files."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from backend.errors import LabError
from backend.names import DEFAULT_PORT
from backend.repository import REPOSITORY

VARIABLE = "_CLOVERLAB_COMPLETE"
ROLES = ("active of g1", "standby of g1", "last down of g1")


def names(context: typer.Context, incomplete: str) -> list[str]:
    """Processes and groups of the running cluster."""
    from backend import remote_requests

    port = context.params.get("port") or int(os.environ.get("CLOVERLAB_PORT", "") or DEFAULT_PORT)
    try:
        reported = remote_requests.ask(port, "GET", "/api/status")
    except LabError:
        return []
    servers = [row["server"].rpartition("/")[2] for row in reported["rows"]]
    known = [*servers, *(group["name"] for group in reported["groups"])]
    return [name for name in known if name.startswith(incomplete)]


def scenarios(incomplete: str) -> list[str]:
    """Scenario files of this program, by their path from here."""
    here = Path.cwd()
    found = sorted((REPOSITORY / "scenarios").rglob("*.yaml"))
    paths = [os.path.relpath(file, here) for file in found]
    return [path for path in paths if path.startswith(incomplete)]


def topics(incomplete: str) -> list[str]:
    """Pages of docs/."""
    return [topic for topic in pages() if topic.startswith(incomplete)]


def pages() -> dict[str, Path]:
    """The pages of docs/ by name."""
    docs = REPOSITORY / "docs"
    found = {str(page.relative_to(docs).with_suffix("")): page for page in sorted(docs.rglob("*.md"))}
    return {name: page for name, page in found.items() if "decisions/" not in name and name != "README"}
