"""The newest search and its findings on disk, so that they outlive the control plane."""

from __future__ import annotations

from pathlib import Path

import msgspec

from backend.searches.reports import Figures
from backend.searches.search import CurvePoint, KnownFailure, Search, SearchCurve, SearchState
from backend.searches.wish import SearchWish
from nodes.real.private_files import replace_file

FILE = "search.json"


class KeptSearch(msgspec.Struct, frozen=True):
    wish: SearchWish
    jobs: int
    state: SearchState
    note: str
    figures: Figures
    points: list[CurvePoint]
    failures: list[KnownFailure]


def keep(search: Search, file: Path) -> None:
    """Raises OSError; the file is whole then, with the search before."""
    kept = KeptSearch(
        search.wish, search.jobs, search.state, search.note, search.figures, search.curve.points,
        list(search.failures.values()),
    )  # fmt: skip
    replace_file(file, msgspec.json.encode(kept))


def kept_search(file: Path) -> Search | None:
    """None where the file is missing, damaged or of another version."""
    try:
        kept = msgspec.json.decode(file.read_bytes(), type=KeptSearch)
    except (OSError, msgspec.DecodeError):
        return None
    search = Search(kept.wish, kept.jobs)
    search.state, search.note, search.figures = kept.state, kept.note, kept.figures
    search.curve = SearchCurve(kept.points)
    search.failures = {known.kind: known for known in kept.failures}
    return search
