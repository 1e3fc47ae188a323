"""`/api/clusters/NAME/…`: the API of one cluster of the fleet is the API of the main one, below this prefix."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from backend.dependencies import CLUSTER
from backend.fleet.fleet import Fleet

PREFIX = "/api/clusters/"
OF_ALL = (
    "attempts", "class", "clusters", "compare", "experiments", "explore", "labs", "paper-clusters", "papers",
)  # fmt: skip
"""Routes that are not of one cluster."""


class ClusterPrefix:
    """In front of all other layers, which judge the address without the prefix."""

    def __init__(self, app: ASGIApp, fleet: Fleet):
        self._app = app
        self._fleet = fleet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and scope["path"].startswith(PREFIX):
            name, _, rest = scope["path"].removeprefix(PREFIX).partition("/")
            lab = self._fleet.find(name)
            if lab is not None and rest and rest.partition("/")[0] not in OF_ALL:
                path = f"/api/{rest}"
                scope = {**scope, "path": path, "raw_path": path.encode(), CLUSTER: lab}
        await self._app(scope, receive, send)
