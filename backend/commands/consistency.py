"""`./cloverlab fs fsck`: do the namespaces of all groups fit together, and do data nodes have every block?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any
from urllib.parse import urlencode

import typer

from backend.commands.listing import files_below
from backend.commands.names import shown
from backend.commands.options import Port, ask
from backend.commands.output import Format, Output, show
from backend.errors import Exit, LabError

app = typer.Typer()
BLOCKS = 64
GONE = 404


@app.command()
def fsck(
    context: typer.Context,
    path: Annotated[
        str, typer.Argument(metavar="[PATH]", help="Check the blocks of the files below it; all by default.")
    ] = "/",
    output: Output = Format.TABLE,
    port: Port = None,
) -> None:
    """Compare the namespaces of all groups, and check the blocks of files. The exit code is 1 when something is wrong."""
    checked = ask(context, port, "GET", "/api/fs/check")
    health: Counter[str] = Counter()
    faults = list(checked["faults"])
    files = 0
    for name, file in files_below(context, port, path):
        files += 1
        for block in blocks_of(context, port, name) if file["length"] else ():
            health[block["health"]] += 1
            if block["health"] == "missing":
                faults.append(f"no data node has block {block['number']} of {shown(name)}")
    blocks = {state: health[state] for state in ("whole", "under", "over", "missing")}
    found = {"objects": checked["objects"], "files": files, "blocks": blocks, "faults": faults}
    if output is Format.JSON:
        show(output, found)
    else:
        print_report(found)
    if faults:
        raise typer.Exit(Exit.FAILED)


def blocks_of(context: typer.Context, port: int | None, path: str) -> Iterator[dict[str, Any]]:
    """The blocks of a file; none when it has gone meanwhile."""
    first, more = 0, True
    while more:
        query = urlencode({"path": path, "first": first, "limit": BLOCKS})
        try:
            page = ask(context, port, "GET", f"/api/fs/blocks?{query}")
        except LabError as error:
            if error.status == GONE:
                return
            raise
        yield from page["blocks"]
        first, more = first + len(page["blocks"]), page["more"]


def print_report(found: dict[str, Any]) -> None:
    for fault in found["faults"]:
        print(fault)
    blocks = ", ".join(f"{count} {state}" for state, count in found["blocks"].items() if count)
    print(
        f"{found['objects']} objects in all groups, {found['files']} files checked, blocks: {blocks or 'none'}"
    )
    print("nothing is wrong" if not found["faults"] else f"{len(found['faults'])} faults")
