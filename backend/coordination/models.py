"""Nodes, sessions and changes of the coordination tree in the API's responses."""

from __future__ import annotations

from pydantic import BaseModel, Field

from backend.events.models import Stamp


class TreeNode(BaseModel):
    """A node of the coordination tree."""

    path: str
    data: str
    version: int = Field(description="Number of changes of the data.")
    session: str = Field(description="Session that owns an ephemeral node, in hexadecimal; empty for others.")
    owner: str = Field(description="Server whose session that is, as far as its place in a view shows it.")


class WatchedNode(TreeNode):
    cut: int = Field(description="Number of characters of the data that are left out.")
    watchers: list[str] = Field(
        description="Sessions that watch the node: the server, or the session in hexadecimal."
    )


class TreeSession(BaseModel):
    """A session of the coordination service."""

    session: str
    server: str = Field(description="Empty where no place in a view shows it.")
    nodes: list[str] = Field(description="Paths of its ephemeral nodes.")
    watches: int = Field(description="Number of nodes that it watches.")
    timeout_ms: int = Field(description="0 where the service does not report it.")
    connected: bool | None = Field(
        description="Whether its client is connected; null where the service does not report it."
    )


class TreeView(BaseModel):
    nodes: list[WatchedNode]
    left_out: int = Field(description="Number of nodes that are not listed.")
    sessions: list[TreeSession]
    sessions_left_out: int
    sessions_known: bool = Field(
        description="A ZooKeeper ensemble does not report them: there they are those that own a node."
    )
    watches_known: bool = Field(description="A ZooKeeper ensemble does not report watches to its clients.")


class ExplainedChange(BaseModel):
    """An event of the global view."""

    event: Stamp
    path: str = Field(description="The changed node; empty for the end of a session.")
    causes: list[Stamp] = Field(description="The first known cause, and the nearest ones, oldest first.")
    skipped: int = Field(description="Number of causes between the first and the second of the list.")
    beyond: str = Field(description="What the first of them names as its cause but is not kept; or empty.")


class TreeChanges(BaseModel):
    changes: list[ExplainedChange] = Field(
        description="The newest 50, and the newest of each node; newest first."
    )
    left_out: int = Field(description="Number of other changes among the newest events of the run.")
