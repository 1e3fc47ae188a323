"""The table of messages and their handlers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.trace.events import Warned
from nodes.wire.messages import Message
from nodes.world import World

Handlers = dict[type[Message], Callable[[str, Any], None]]


def report_unknown(world: World, peer: str, message: Message) -> None:
    """A message without a handler is an event, never a crash."""
    reported = f"{peer} sent a {type(message).__name__}, which a metadata server does not take"
    world.trace.emit(Warned(reported))
