"""Dispatch of messages to their handlers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.trace.events import Warned
from nodes.wire.messages import Message
from nodes.world import World

Handlers = dict[type[Message], Callable[[str, Any], None]]


def hand(world: World, handlers: Handlers, peer: str, message: Message) -> None:
    """Calls the handler of a message. A message without a handler is an event, never a crash."""
    handler = handlers.get(type(message))
    if handler is None:
        reported = f"{peer} sent a {type(message).__name__}, which a metadata server does not take"
        world.trace.emit(Warned(reported))
    else:
        handler(peer, message)
