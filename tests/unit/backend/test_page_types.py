"""The page's types are those of the API and of the events."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend import page_types
from backend.store.encoding import KINDS


def test_the_types_are_those_of_the_models() -> None:
    assert page_types.FILE.read_text() == page_types.schema(), "python -m backend.page_types --write"


def test_every_name_is_given_once() -> None:
    names = [line.split()[2] for line in page_types.schema().splitlines() if line.startswith("export ")]
    assert len(names) == len(set(names)) and set(page_types.READ) <= set(names) & set(KINDS)


def test_writing_brings_a_stale_file_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_types, "FILE", tmp_path / "schema.ts")
    page_types.FILE.write_text("export type Server = never;\n")
    page_types.main(["--write"])
    assert page_types.FILE.read_text() == page_types.schema()


def test_a_type_is_reported_as_the_page_writes_it() -> None:
    assert page_types.typed(dict[str, list[int | None]]) == "Record<string, (number | null)[]>"
    assert page_types.typed(tuple[str, ...]) == "string[]"
    assert page_types.typed(list[tuple[str, int]]) == "[string, number][]"
