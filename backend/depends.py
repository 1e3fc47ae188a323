"""What a route is given."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from backend.lab import Lab


def the_lab(connection: HTTPConnection) -> Lab:
    lab: Lab = connection.app.state.lab
    return lab


TheLab = Annotated[Lab, Depends(the_lab)]
