"""`./cloverlab remove`: a server is taken out for good."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

import typer

from backend.commands.completion import names
from backend.commands.options import Port, ask
from backend.commands.output import Format, Output, show

app = typer.Typer()


@app.command()
def remove(
    context: typer.Context,
    server: Annotated[
        str,
        typer.Argument(metavar="SERVER", help="A metadata server that does not lead.", autocompletion=names),
    ],
    output: Output = Format.TABLE,
    port: Port = None,
) -> None:
    """Take a server out of its group for good. Its name is not used again, and its files stay on its disk.

    Safe under load: it leaves when the others have everything that was answered. Exit code 3 with the reason when it must stay.
    """
    show(output, ask(context, port, "DELETE", f"/api/servers/{quote(server, safe='')}"))
