"""Arguments that routes receive."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from backend.running import Running


def the_lab(connection: HTTPConnection) -> Running:
    lab: Running = connection.app.state.lab
    return lab


TheLab = Annotated[Running, Depends(the_lab)]
