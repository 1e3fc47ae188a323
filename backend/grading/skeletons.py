"""The skeletons of implementation labs: a folder that a student begins with."""

from __future__ import annotations

from pathlib import Path

from backend.errors import Impossible, Malformed, NotThere
from backend.repository import REPOSITORY
from backend.suggestion import nearest

FOLDER = REPOSITORY / "labs" / "implementation"
PART = "part.py"
"""The file that a student writes."""


def names() -> list[str]:
    return sorted(path.parent.name for path in FOLDER.glob(f"*/{PART}"))


def known(name: str) -> Path:
    """The folder of a lab. Raises NotThere."""
    if name not in names():
        raise NotThere(
            f"no implementation lab is called {name[:40]!r}{nearest(name, names())}; there are {', '.join(names())}"
        )
    return FOLDER / name


def write(name: str, directory: Path) -> list[Path]:
    """Copies the skeleton and the page of a lab to a directory; files that are there stay. Raises Impossible, Malformed."""
    written: list[Path] = []
    for source in (known(name) / PART, known(name) / "lab.md"):
        target = directory / source.name
        if target.exists():
            raise Impossible(f"{target} is there already; it is left as it is")
        try:
            directory.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
        except OSError as error:
            raise Malformed(f"cannot write {target}: {error.strerror}") from None
        written.append(target)
    return written


def part_of(path: Path) -> Path:
    """The file to grade: the path itself, or `part.py` in it. Raises Malformed."""
    file = path / PART if path.is_dir() else path
    if not file.is_file():
        raise Malformed(f"{file}: there is no such file; `grade LAB --new {path}` writes one")
    return file
