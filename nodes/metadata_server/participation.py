"""What the metadata server knows of its part in the group: whether it serves, and for how long it takes part at all.

In most families a session with the coordination service, and its lock, decide both (nodes/replicas/session.py). In others the members agree on it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from nodes.metadata_server.messages import ImageGoesOn, ImageTaken
from nodes.metadata_server.snapshots import Imaging
from nodes.scope import Scope
from nodes.wire.messages import AskView, CheckOperation, Message, Request

Question = Callable[[dict[str, Any]], Any]


class ServingMember(Protocol):
    """A server that serves, or prepares to: the holder of a lock, or a member of a view."""

    imaging: Imaging | None
    """The orders of images, at the server of the group that gives them."""

    @property
    def ahead(self) -> bool:
        """Whether the namespace may show what is not committed, so that no image is taken of it for others."""

    @property
    def writes(self) -> bool:
        """Whether it serves requests, writes included."""

    @property
    def admits(self) -> bool:
        """Whether it takes calls, now or when it serves. If not, callers are referred elsewhere."""

    @property
    def commands(self) -> tuple[int, bool]:
        """The epoch in which it commands data nodes, 0 when it does not; and whether its namespace has no change ahead of commit."""

    def on_call(self, peer: str, call: Request | CheckOperation) -> None: ...

    def on_image(self, peer: str, message: ImageTaken | ImageGoesOn) -> None: ...

    def on_marking(self, peer: str, message: Message) -> None: ...

    def on_cross_group(self, peer: str, message: Message) -> None: ...

    def begin_marking(self, name: str) -> asyncio.Task[str] | None:
        """Begins marking a checkpoint as time server; None when it cannot."""

    def remove(self, server: str) -> str:
        """Lets a server leave the group in order. Returns the reason when it never can."""

    def counters(self) -> dict[str, int] | None:
        """Counters; None before it serves."""


S = TypeVar("S", bound=ServingMember, covariant=True)


class Participation(Protocol[S]):
    """One server's part in its group."""

    @property
    def leader(self) -> S | None:
        """The service of this server; None while it serves nothing."""

    @property
    def scope(self) -> Scope | None:
        """Scope of the procedures that end when this server no longer takes part; None then."""

    @property
    def epoch(self) -> int:
        """The newest epoch that this server knows."""

    @property
    def behind(self) -> bool:
        """Whether another server may have sent answers that the namespace here does not show yet."""

    @property
    def questions(self) -> dict[str, Question]:
        """Further queries, and those that it answers in its own way."""

    def start(self) -> None: ...

    def to_leader(
        self, step: Callable[[S, str, Any], None], answers: bool = True
    ) -> Callable[[str, Any], None]:
        """A handler that passes a message to the service of this server. `answers`: the message is not a question of the peer."""

    def refuse(self, peer: str, number: int) -> None:
        """Refuses a call, and names a server that may take it."""

    def on_ask_view(self, peer: str, message: AskView) -> None: ...
