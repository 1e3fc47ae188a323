"""The one rule for output: data go to standard output, as an aligned table or as one JSON document; all else goes to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

from backend.tables import aligned

Row = Mapping[str, Any]


class Format(StrEnum):
    TABLE = "table"
    JSON = "json"


Output = Annotated[
    Format, typer.Option("--output", "-o", metavar="table|json", help="Form of the output: table or json.")
]
OldJson = Annotated[bool, typer.Option("--json", hidden=True)]


def chosen(output: Format, as_json: bool) -> Format:
    """The form of the output, of a command that still knows the old option `--json`."""
    if as_json:
        print("cloverlab: --json is now -o json", file=sys.stderr)
    return Format.JSON if as_json else output


def show(output: Format, data: Row | Sequence[Row], rows: Sequence[Row] | None = None) -> None:
    """Prints a JSON document of the data, or a table with the keys of the rows as its head.

    The rows are the data themselves unless they are given; a single mapping is a table of its keys and values.
    """
    if output is Format.JSON:
        print(json.dumps(data, indent=1))
    elif rows is None and isinstance(data, Mapping):
        print(aligned([(key, cell(value)) for key, value in data.items()]))
    else:
        table = data if rows is None else rows
        if table:
            print(aligned([tuple(table[0]), *(tuple(map(cell, row.values())) for row in table)]))  # type: ignore[index,union-attr]


def cell(value: Any) -> str:
    """A value in a table: `-` for none, nested values as JSON."""
    if value is None:
        return "-"
    return json.dumps(value) if isinstance(value, bool | list | dict) else str(value)
