"""Arguments that routes receive."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from backend.running import Running

CLUSTER = "cloverlab.cluster"
"""Key of a scope: the cluster that the request is for; without it, the main one."""


def the_lab(connection: HTTPConnection) -> Running:
    lab: Running = connection.scope.get(CLUSTER) or connection.app.state.fleet.main
    return lab


TheLab = Annotated[Running, Depends(the_lab)]
