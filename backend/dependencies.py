"""Arguments that routes receive."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends
from starlette.requests import HTTPConnection

from backend.running_cluster import Running

CLUSTER = "cloverlab.cluster"
"""Key of a scope: the cluster that the request is for; without it, the main one."""


def the_whole(connection: HTTPConnection) -> Any:
    """The laboratory of the cluster, whose parts are above `Running`."""
    return connection.scope.get(CLUSTER) or connection.app.state.fleet.main


def the_lab(connection: HTTPConnection) -> Running:
    lab: Running = the_whole(connection)
    return lab


TheLab = Annotated[Running, Depends(the_lab)]
