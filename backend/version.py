"""The version of this program."""

from __future__ import annotations

from functools import cache

from backend.repository import REPOSITORY


@cache
def version() -> str:
    """The version in the project's file, or of the installed package where there is no such file."""
    project = REPOSITORY / "pyproject.toml"
    if not project.is_file():
        import importlib.metadata

        return importlib.metadata.version("cloverlab")
    import tomllib

    found: str = tomllib.loads(project.read_text())["project"]["version"]
    return found
