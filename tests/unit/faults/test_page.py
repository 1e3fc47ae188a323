"""docs/faults.md has the tables that the table of faults generates; so has the schema of scenario files."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import msgspec
import pytest
from ruamel.yaml import YAML

from backend.faults import page
from backend.scenarios.schema import schema
from nodes.faults.table import VERBS

ROOT = Path(__file__).resolve().parents[3]
STEP = {"name": "x", "teaches": "y"}


def test_the_page_is_that_of_the_table() -> None:
    text = page.PAGE.read_text()
    assert text == page.page(text), "python -m backend.faults.page --write"
    assert all(f"| `{verb.verb}` |" in text for verb in VERBS)


def test_writing_puts_the_tables_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.PAGE.read_text()
    monkeypatch.setattr(page, "PAGE", tmp_path / "faults.md")
    page.PAGE.write_text(text.replace("| `crash` | C |", "| `crush` | C |"))
    page.main(["--write"])
    assert page.PAGE.read_text() == text


@pytest.mark.parametrize(
    ("step", "right"),
    [
        ({"fault": "delay", "target": "mds1", "options": {"ms": 5}}, True),
        ({"fault": "{verb}", "target": "mds1", "options": {"ms": 5}}, True),
        ({"fault": "delay", "target": "mds1", "options": {"ms": -5}}, False),
        ({"fault": "delay", "target": "mds1", "options": {"share": 0.5}}, False),
        ({"fault": "corrupt", "target": "mds1", "options": {"what": "manifest"}}, True),
        ({"fault": "smash", "target": "mds1"}, False),
    ],
)
def test_the_schema_knows_verbs_and_options(step: dict[str, object], right: bool) -> None:
    validator = jsonschema.Draft202012Validator(msgspec.json.decode(schema()))
    assert validator.is_valid({**STEP, "steps": [step]}) is right


def test_every_shipped_scenario_passes_the_schema() -> None:
    validator = jsonschema.Draft202012Validator(msgspec.json.decode(schema()))
    for file in sorted((ROOT / "scenarios").rglob("*.yaml")):
        assert [error.message for error in validator.iter_errors(YAML(typ="safe").load(file))] == [], file
