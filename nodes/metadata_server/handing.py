"""Messages on their way to the step that takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.metadata_server.answering import Answering
from nodes.replicas.following import Following
from nodes.trace.events import Warned
from nodes.wire.messages import CheckOperation, Message, Request
from nodes.world import World

Handlers = dict[type[Message], Callable[[str, Any], None]]


def hand(world: World, handlers: Handlers, peer: str, message: Message) -> None:
    """Every message goes straight to its step; one that no table knows is an event, never a crash."""
    handler = handlers.get(type(message))
    if handler is None:
        told = f"{peer} sent a {type(message).__name__}, which a metadata server does not take"
        world.trace.emit(Warned(told))
    else:
        handler(peer, message)


def hand_call(
    answering: Answering | None, following: Following, peer: str, call: Request | CheckOperation
) -> None:
    """To the leader's intake, if this server leads; else the caller is told who does."""
    if answering is None:
        following.refuse(peer, call.number)
    elif isinstance(call, Request):
        answering.on_request(peer, call)
    else:
        answering.on_check(peer, call)
